package workloads

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
)

// The formats of traces that [FileOptions.Format] takes are those of the cache
// simulator libCacheSim. In both each row is one request for one object, whose
// number, in decimal, is the key, and tells the object's size in bytes.
const (
	// LibCacheSimCSV is the text that its tracePrint writes: lines of time, object,
	// size and, in some, the next access, separated by commas with spaces around
	// them. A line that begins with # is skipped. The object may be any text
	// without a comma.
	LibCacheSimCSV = "libcachesim-csv"

	// OracleGeneral is its binary trace, in which most public cache traces are
	// given away: records of 24 bytes, little-endian, with the time (uint32), the
	// object (uint64), the size (uint32) and the next access (int64): the number
	// of a later record, or that there is none.
	OracleGeneral = "oracle-general"
)

// format returns the format of a trace, or "" for a file that the names of its
// columns describe, or that has none.
func (o FileOptions) format(path string) string {
	if o.Format == "" && o.KeyColumn == "" && strings.Contains(filepath.Base(path), ".oracleGeneral") {
		return OracleGeneral
	}
	return o.Format
}

// sized says whether the file tells sizes.
func (o FileOptions) sized(path string) bool { return o.SizeColumn != "" || o.format(path) != "" }

// libCacheSimCSV returns the function that reads the rows of such a file.
func (in *input) libCacheSimCSV() func() (row, error) {
	return func() (row, error) {
		line, err := in.line()
		for err == nil && (len(line) == 0 || line[0] == '#') {
			line, err = in.line()
		}
		if err != nil {
			return row{}, err
		}
		fields := bytes.SplitN(line, []byte{','}, 4)
		if len(fields) < 3 {
			return row{}, fmt.Errorf("%s: %d columns, want time, object and size, separated by commas", in.place(), len(fields))
		}
		size, ok := parseAmount(string(fields[2]))
		if !ok {
			column := 1 + len(fields[0]) + 1 + len(fields[1]) + 1
			return row{}, fmt.Errorf("%s:%d: size %q is not a finite number of 0 or more, for a table with a header name its columns instead", in.place(), column, shorten(string(fields[2])))
		}
		return row{key: bytes.TrimSpace(fields[1]), count: 1, size: size}, nil
	}
}

// The layout of a record of an OracleGeneral trace.
const (
	recordBytes = 24
	objectAt    = 4
	sizeAt      = 12
	nextAt      = 16
)

// maxRecords is more than any trace holds: no next access lies beyond it.
const maxRecords = 1 << 48

// oracleGeneral returns the function that reads the records of such a trace.
func (in *input) oracleGeneral() func() (row, error) {
	in.unit = "record "
	var key []byte
	return func() (row, error) {
		in.number++
		in.limit.reset()
		record, err := in.r.Peek(recordBytes)
		switch {
		case err == io.EOF && len(record) > 0:
			return row{}, fmt.Errorf("%s: the trace ends after %d of its %d bytes, fetch the file again", in.place(), len(record), recordBytes)
		case err != nil:
			return row{}, in.readError(err)
		}
		// A file of another kind is told by this, since its bytes seldom make a
		// number that small.
		next := int64(binary.LittleEndian.Uint64(record[nextAt:]))
		if next < -2 || next > maxRecords && next != math.MaxInt64 {
			return row{}, fmt.Errorf("%s: the next access is said to be record %d, is this an oracleGeneral trace?", in.place(), next)
		}
		key = strconv.AppendUint(key[:0], binary.LittleEndian.Uint64(record[objectAt:]), 10)
		size := binary.LittleEndian.Uint32(record[sizeAt:])
		in.r.Discard(recordBytes)
		return row{key: key, count: 1, size: float64(size)}, nil
	}
}
