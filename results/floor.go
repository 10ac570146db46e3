package results

import "math"

// FloorBytes returns the size of the array whose one random read is the floor
// for a structure of the footprint: the nearest power of two, and at least 4096.
// Nearest is meant in ratio, so that the array is at most 1.42 times larger or
// smaller. It is at most 2^40.
func FloorBytes(footprint float64) int64 {
	const least, most = 12, 40
	if !(footprint > 1<<least) {
		return 1 << least
	}
	return 1 << int(min(most, math.Round(math.Log2(footprint))))
}
