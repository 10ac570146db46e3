package whatif

import (
	"hash/crc32"
	"math"
	"testing"

	"github.com/ringbench/ringbench/algorithms/keyhash"
	"github.com/ringbench/ringbench/algorithms/modulo"
)

// What moves from crc32(key) % 640 to % 641 is counted here with the checksum of the
// standard library.
func TestMovementUnderAnotherDivisorIsThatOfTheValues(t *testing.T) {
	const keys = 20_000
	q := question(modulo.Info, 640, keys, add("new", 1))
	q.Hash, _ = keyhash.ByName("crc32")
	moved := 0
	for rank := range keys {
		h := crc32.ChecksumIEEE([]byte(q.Keys.Key(rank)))
		if h%640 != h%641 {
			moved++
		}
	}
	if a := ask(t, q); math.Abs(a.Moved-float64(moved)/keys) > 1e-12 {
		t.Errorf("%v of the keys move, want %v", a.Moved, float64(moved)/keys)
	}
}
