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

func TestShowReport(t *testing.T) {
	dir := os.Getenv("SHOW")
	if dir == "" {
		t.Skip()
	}
	f, _ := os.Create(dir + "/report.html")
	defer f.Close()
	set := quick()
	set.End.Warnings = []string{"the control moved by 12% between repetitions: the machine was not quiet"}
	if err := WriteReport(f, set); err != nil {
		t.Fatal(err)
	}
}
