package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/builtin"
	"github.com/ringbench/ringbench/algorithms/jump"
)

// A claim whose verdict is not the expected one makes the command fail, with all
// results on stdout and the claim in the error.
func TestVerifyFailsWithItsClaims(t *testing.T) {
	all := builtin.All()
	i := slices.IndexFunc(all, func(i algorithms.Info) bool { return i.Name == "modulo" })
	all[i].New = jump.Info.New
	var stdout, stderr bytes.Buffer
	code := Run([]string{"verify", "-q", "--only", "^said/(wards|on-a-point)$"}, strings.NewReader(""), &stdout, &stderr, all...)
	if code != exitFailed {
		t.Errorf("it ends with %d", code)
	}
	const want = "ringbench: said/wards is not reproduced, reproduced was expected\n"
	if stderr.String() != want {
		t.Errorf("stderr %q, want %q", &stderr, want)
	}
	for _, line := range []string{"FAILED: not reproduced, expected reproduced\n", "2 claims: 1 reproduced, 0 refuted, 1 not reproduced; 1 not as expected.\n"} {
		if !strings.Contains(stdout.String(), line) {
			t.Errorf("stdout lacks %q:\n%s", line, &stdout)
		}
	}
}

// An algorithm that a command of one's own does not have is named.
func TestVerifyNeedsTheAlgorithms(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := Run([]string{"verify", "-q", "--only", "^said/wards$"}, strings.NewReader(""), &stdout, &stderr, jump.Info)
	if code != exitInput || stdout.Len() > 0 || !strings.Contains(stderr.String(), `claim said/wards: there is no algorithm "modulo"`) {
		t.Errorf("it ends with %d, stdout %q, stderr %q", code, &stdout, &stderr)
	}
}
