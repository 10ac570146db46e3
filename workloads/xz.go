package workloads

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// A wholeXZ hands xz data on and makes sure that they end as a stream of xz does:
// the library takes data that end between two blocks for whole ones.
type wholeXZ struct {
	r    io.Reader
	last []byte // of what was read, up to the footer and the padding behind it
}

const (
	xzFooter  = 12      // bytes
	xzKept    = 1 << 16 // bytes that are looked at for the footer
	xzPadding = 4       // zeros come behind a footer in multiples of this
)

func (x *wholeXZ) Read(p []byte) (int, error) {
	n, err := x.r.Read(p)
	x.last = append(x.last, p[max(0, n-xzKept):n]...)
	x.last = x.last[max(0, len(x.last)-xzKept):]
	if err == io.EOF && !endsXZ(x.last) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// endsXZ reports whether the data end in the footer of an xz stream: a checksum
// of the six bytes behind it, these, and "YZ".
func endsXZ(b []byte) bool {
	for len(b) >= xzPadding && string(b[len(b)-xzPadding:]) == "\x00\x00\x00\x00" {
		b = b[:len(b)-xzPadding]
	}
	if len(b) < xzFooter {
		return false
	}
	footer := b[len(b)-xzFooter:]
	return string(footer[10:]) == "YZ" && binary.LittleEndian.Uint32(footer) == crc32.ChecksumIEEE(footer[4:10])
}
