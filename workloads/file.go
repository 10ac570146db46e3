package workloads

import (
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"
)

// MaxKeyBytes is the longest line, or record of a CSV file, that is read.
const MaxKeyBytes = 16 << 20

// FileOptions says how a file of keys is laid out. The zero value is one key a
// line: the raw bytes of the line without the "\n" or "\r\n" that ends it. An
// empty line is the empty key. A byte order mark at the beginning is left out.
type FileOptions struct {
	// KeyColumn is the name of the column that holds the keys. When it is set
	// the file is a table whose first line names the columns.
	KeyColumn string

	// CountColumn is the name of the column that tells how many requests a row
	// stands for, a finite number of 0 or more. Without it each row is one.
	CountColumn string

	// SizeColumn is the name of the column that tells how many bytes each request
	// of a row asks for, a finite number of 0 or more.
	SizeColumn string

	// Format is [LibCacheSimCSV] or [OracleGeneral] for a trace of that kind, whose
	// columns need no names. Without it and without KeyColumn, a name that holds
	// ".oracleGeneral" tells an OracleGeneral trace.
	Format string

	// Comma separates the columns. Zero takes the first of comma, tab, semicolon
	// and vertical bar that makes KeyColumn a column. Tabs make the file a TSV,
	// in which quotation marks mean nothing; all others make it a CSV as in
	// RFC 4180, where "\r\n" within a quoted field is read as "\n".
	Comma rune

	// Stdin is what the path "-" reads.
	Stdin io.Reader
}

// A KeyFile is a key set read from a file: its distinct keys in order of first
// appearance, with the requests for each.
type KeyFile struct {
	name   string
	keys   []string
	counts []float64
	bytes  []float64 // nil when the file tells no sizes
}

// Name returns "file:BASE:COUNT", with the last part of the path and the number of
// distinct keys.
func (f *KeyFile) Name() string { return fmt.Sprintf("file:%s:%d", f.name, len(f.keys)) }

// Len returns the number of distinct keys.
func (f *KeyFile) Len() int { return len(f.keys) }

// Key returns the key that was the rank-th to appear. It does not allocate.
func (f *KeyFile) Key(rank int) string { return f.keys[rank] }

// Counts returns the number of requests for each key, by rank: how often it
// stands in the file, or the sum of its counts when there is a column of them. At
// least one is above 0. The slice is the file's own and must not be changed.
func (f *KeyFile) Counts() []float64 { return f.counts }

// Bytes returns the number of bytes that the requests for each key ask for, by rank:
// the sum over its rows of requests times size. It is nil when the file tells no
// sizes. The slice is the file's own and must not be changed.
func (f *KeyFile) Bytes() []float64 { return f.bytes }

// ReadKeys reads a file of keys into memory. The path "-" stands for
// [FileOptions.Stdin]; a name that ends in .gz, .zst or .xz is decompressed. A
// file without any key is an error, as is one whose counts are all 0. Errors begin
// with the file and, where there is one, the line and the column, or the number of
// the record in a binary trace.
//
// The time is linear in the size of the file; the memory is that of the distinct
// keys and about 80 bytes for each of them.
func ReadKeys(path string, o FileOptions) (*KeyFile, error) {
	f := &KeyFile{name: filepath.Base(path)}
	sized := o.sized(path)
	seen := newIndex()
	var texts arena
	for row, err := range o.rows(path) {
		if err != nil {
			return nil, err
		}
		rank, known := seen.rank(row.key, f.keys)
		if !known {
			if rank == MaxKeys {
				return nil, fmt.Errorf("%s: more than %d distinct keys, use a part of the file", path, MaxKeys)
			}
			if len(f.keys) == cap(f.keys) {
				// append by itself grows by a quarter and copies four times as much.
				f.keys = slices.Grow(f.keys, len(f.keys)+1)
				f.counts = slices.Grow(f.counts, len(f.keys)+1)
				if sized {
					f.bytes = slices.Grow(f.bytes, len(f.keys)+1)
				}
			}
			f.keys = append(f.keys, texts.keep(row.key))
			f.counts = append(f.counts, 0)
			if sized {
				f.bytes = append(f.bytes, 0)
			}
		}
		f.counts[rank] += row.count
		if sized {
			f.bytes[rank] += float64(row.count * row.size)
		}
	}
	if err := checkCounts("counts", f.counts); err != nil {
		return nil, fmt.Errorf("%s: column %q: %w", path, o.CountColumn, err)
	}
	if o.SizeColumn != "" {
		if err := checkCounts("bytes", f.bytes); err != nil {
			return nil, fmt.Errorf("%s: column %q: %w", path, o.SizeColumn, err)
		}
	}
	return f, nil
}

// StreamKeys yields the keys of a file in the order in which they stand there,
// repeated as they are, without holding more than one in memory. It takes what
// [ReadKeys] takes. An error comes last, with an empty key.
func StreamKeys(path string, o FileOptions) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for row, err := range o.rows(path) {
			if err != nil {
				yield("", err)
				return
			}
			if !yield(string(row.key), nil) {
				return
			}
		}
	}
}

// An arena keeps strings next to each other in large pieces of memory, so that
// millions of them cost the garbage collector little.
type arena struct{ piece *strings.Builder }

func (a *arena) keep(text []byte) string {
	const size = 1 << 20
	if a.piece == nil || a.piece.Cap()-a.piece.Len() < len(text) {
		a.piece = new(strings.Builder)
		a.piece.Grow(max(size, len(text)))
	}
	from := a.piece.Len()
	a.piece.Write(text)
	return a.piece.String()[from:]
}
