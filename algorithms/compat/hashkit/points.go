package hashkit

import (
	"strconv"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/compat/points"
)

// AppendPoints appends the points that ketama gives to a node: md5 of the label,
// "-" and a number from 0 up to hashes, exclusive, and of each digest the first
// words numbers.
func AppendPoints(dst []points.Point, b algorithms.Bucket, label string, hashes, words int) []points.Point {
	text := append([]byte(label), '-')
	head := len(text)
	for i := range hashes {
		text = strconv.AppendInt(text[:head], int64(i), 10)
		digest := Words(text)
		for _, w := range digest[:words] {
			dst = append(dst, points.Point{Position: uint64(w), Owner: b})
		}
	}
	return dst
}
