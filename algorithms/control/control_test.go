package control_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/control"
)

func TestOneReadReachesEverySlotByTheTopBits(t *testing.T) {
	nodes := algorithms.Nodes("a", "b", "c", "d", "e")
	for _, size := range []int64{4096, 8192, 1 << 20} {
		m, err := control.NewOneRead(nodes, control.OneReadConfig{Bytes: size})
		if err != nil {
			t.Fatal(err)
		}
		if m.Footprint() != size {
			t.Errorf("footprint %d, want %d", m.Footprint(), size)
		}
		slots := uint64(size / 4)
		counts := make([]int, len(nodes))
		for i := range slots {
			first, last := i*(1<<63/slots*2), i*(1<<63/slots*2)+(1<<63/slots*2-1)
			if m.Lookup(first) != m.Lookup(last) {
				t.Fatalf("the hashes %x and %x name one slot of %d and differ", first, last, slots)
			}
			counts[m.Lookup(first)]++
		}
		for b, n := range counts {
			if fair := int(slots) / len(nodes); n < fair*8/10 || n > fair*12/10 {
				t.Errorf("bucket %d fills %d of %d slots", b, n, slots)
			}
		}
	}
}

func TestOneReadRefusesOtherSizes(t *testing.T) {
	for _, size := range []int64{-1, 0, 1, 2048, 4095, 4097, 12288} {
		params := json.RawMessage(fmt.Sprintf(`{"bytes":%d}`, size))
		_, _, err := control.OneReadInfo.New(algorithms.Nodes("a"), params)
		if err == nil || !strings.Contains(err.Error(), "power of two of at least 4096") {
			t.Errorf("bytes=%d: %v", size, err)
		}
	}
	if n, err := control.OneReadInfo.Forecast(nil, json.RawMessage(`{"bytes":65536}`)); n != 65536 || err != nil {
		t.Errorf("forecast %d, %v, want 65536", n, err)
	}
}

func TestControlDoesNotGiveKeysToANodeOfWeightZero(t *testing.T) {
	_, _, err := control.Info.New([]algorithms.Node{{Name: "a"}, {Name: "b", Weight: 1}}, nil)
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("error %v, want one that wraps ErrUnsupported", err)
	}
}
