package capacity_test

import (
	"strings"
	"testing"

	"github.com/ringbench/ringbench/algorithms/capacity"
)

func TestOf(t *testing.T) {
	for _, tt := range []struct{ value, nodes, want int }{
		{0, 1, 16}, {0, 8, 16}, {0, 9, 32}, {0, 16, 32}, {0, 17, 64}, {0, 1000, 2048}, {0, 1024, 2048}, {0, 1025, 4096},
		{3, 3, 3}, {100, 3, 100}, {1<<31 - 1, 3, 1<<31 - 1},
	} {
		if got, err := capacity.Of(tt.value, tt.nodes); got != tt.want || err != nil {
			t.Errorf("Of(%d, %d) = %d, %v, want %d", tt.value, tt.nodes, got, err, tt.want)
		}
	}
	for _, value := range []int{-1, 2, 1 << 31} {
		if _, err := capacity.Of(value, 3); err == nil || !strings.Contains(err.Error(), "capacity") {
			t.Errorf("Of(%d, 3) gives the error %v", value, err)
		}
	}
}
