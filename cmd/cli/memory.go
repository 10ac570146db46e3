package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ringbench/ringbench/results"
)

// sizeUnits are what a size on the command line may end in, longest first.
var sizeUnits = []struct {
	suffix string
	bytes  float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 1 << 40},
	{"B", 1}, {"", 1},
}

// memoryLimit reads --max-memory: bytes, or a number with a unit such as 2GiB or
// 500MB. An empty text is half of the memory that is available, and 0, for no
// limit, where the system does not tell.
func memoryLimit(text string) (int64, error) {
	if text == "" {
		return results.AvailableMemory() / 2, nil
	}
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(v*u.bytes >= 1) || v*u.bytes >= math.MaxInt64 {
			break
		}
		return int64(v * u.bytes), nil
	}
	return 0, fmt.Errorf("--max-memory cannot be %q, it wants a size such as 2GiB or 500MB", text)
}

// bytesText writes a number of bytes with one digit after the point.
func bytesText(n int64) string {
	text, v := "B", float64(n)
	for _, u := range sizeUnits[:4] {
		if float64(n) >= u.bytes {
			text, v = u.suffix, float64(n)/u.bytes
		}
	}
	if text == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, text)
}
