package regress

import (
	"path/filepath"
	"strings"
	"testing"
)

// The profile is as callgrind 3.19 writes it, cut to its head.
func TestTheCountOfAProfileIsItsSummary(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"good":    "# callgrind format\nversion: 1\ndesc: Trigger: --dump-after=f\nevents: Ir\nsummary: 269262\n\nfn=(1) f\n0 269262\n",
		"nothing": "events: Ir\nsummary: 0\n",
		"torn":    "events: Ir\n",
	})
	if n, err := readCount(filepath.Join(dir, "good")); n != 269262 || err != nil {
		t.Errorf("count %v, %v", n, err)
	}
	for file, want := range map[string]string{"nothing": "counted nothing", "torn": "without a summary", "absent": "absent"} {
		if _, err := readCount(filepath.Join(dir, file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", file, err, want)
		}
	}
}
