package results

import (
	"math"
	"testing"
)

func TestTheFloorIsTheNearestPowerOfTwo(t *testing.T) {
	for _, tt := range []struct {
		footprint float64
		want      int64
	}{
		{0, 4096}, {math.NaN(), 4096}, {4096, 4096}, {5700, 4096}, {5900, 8192},
		{2.4e6, 2 << 20}, {3.1e6, 4 << 20}, {1 << 30, 1 << 30}, {math.Inf(1), 1 << 40},
	} {
		if got := FloorBytes(tt.footprint); got != tt.want {
			t.Errorf("footprint %v: %d, want %d", tt.footprint, got, tt.want)
		}
	}
}
