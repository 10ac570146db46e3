package plots

import (
	"os"
	"testing"
)

func TestShow(t *testing.T) {
	dir := os.Getenv("SHOW")
	if dir == "" {
		t.Skip()
	}
	paths, err := WriteAll(dir, quick(), []string{"svg", "png"})
	t.Log(len(paths), err)
}
