package workloads

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// bufferSize is how much of a file is read at once, in bytes.
const bufferSize = 1 << 16

// An input is a file of keys, decompressed, read line by line or record by record.
type input struct {
	path   string
	packed *packing // nil when not compressed
	r      *bufio.Reader
	limit  *limit
	long   []byte // a line that the buffer of r does not hold
	unit   string // what number counts: "" for lines, otherwise its name and a space
	number int    // of the line or record read last, from 1
	close  func()
}

// A packing is a way of compressing that a file's name tells.
type packing struct {
	suffix string
	name   string
	tool   string // what decompresses it to standard output
	magic  string // what such data begin with
	open   func(io.Reader) (io.Reader, func(), error)
}

var packings = []*packing{
	{".gz", "gzip", "gzip -dc", "\x1f\x8b\x08", func(r io.Reader) (io.Reader, func(), error) {
		z, err := gzip.NewReader(r)
		return z, func() {}, err
	}},
	{".zst", "zstd", "zstd -dc", "\x28\xb5\x2f\xfd", func(r io.Reader) (io.Reader, func(), error) {
		// The window is what the zstd command allows unless told otherwise.
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}},
	{".xz", "xz", "xz -dc", "\xfd7zXZ\x00", func(r io.Reader) (io.Reader, func(), error) {
		z, err := xz.NewReader(&wholeXZ{r: r})
		return z, func() {}, err
	}},
}

// open opens the file, or stdin for the path "-".
func open(path string, stdin io.Reader) (*input, error) {
	in := &input{path: path}
	raw, closeRaw := stdin, func() {}
	if path == "-" {
		if stdin == nil {
			return nil, errors.New("-: there is no standard input here, name a file")
		}
	} else {
		f, err := os.Open(path)
		if err != nil {
			return nil, in.readError(err)
		}
		raw, closeRaw = f, func() { f.Close() }
	}
	if err := in.unpack(bufio.NewReaderSize(raw, bufferSize), closeRaw); err != nil {
		closeRaw()
		return nil, err
	}
	return in, nil
}

// unpack sets the input to read from raw, decompressed if the path asks for that.
// Compressed data under another name are refused, since their lines would be keys
// that nobody meant.
func (in *input) unpack(raw *bufio.Reader, closeRaw func()) error {
	if _, err := raw.Peek(1); err == io.EOF {
		return fmt.Errorf("%s: no keys, it is empty", in.path)
	} else if err != nil {
		return in.readError(err)
	}
	var plain io.Reader = raw
	in.close = closeRaw
	for _, p := range packings {
		if strings.HasSuffix(in.path, p.suffix) {
			in.packed = p
		}
	}
	if in.packed == nil {
		for _, p := range packings {
			if start, _ := raw.Peek(len(p.magic)); string(start) == p.magic {
				return fmt.Errorf("%s: these are %s data, let the name end in %s or pipe them through %s", in.path, p.name, p.suffix, p.tool)
			}
		}
	} else {
		z, closePacked, err := in.packed.open(raw)
		if err != nil {
			return in.readError(err)
		}
		plain = z
		in.close = func() { closePacked(); closeRaw() }
	}
	in.limit = &limit{r: plain}
	in.limit.reset()
	in.r = bufio.NewReaderSize(in.limit, bufferSize)
	return nil
}

func (in *input) skipByteOrderMark() {
	const mark = "\ufeff"
	if start, _ := in.r.Peek(len(mark)); string(start) == mark {
		in.r.Discard(len(mark))
	}
}

// line returns the next line without the "\n" or "\r\n" that ends it; it is valid
// until the next call. The error is io.EOF after the last line.
func (in *input) line() ([]byte, error) {
	in.number++
	in.limit.reset()
	in.long = in.long[:0]
	line, err := in.r.ReadSlice('\n')
	for err == bufio.ErrBufferFull && len(in.long) <= MaxKeyBytes {
		in.long = append(in.long, line...)
		line, err = in.r.ReadSlice('\n')
	}
	if len(in.long) > 0 {
		in.long = append(in.long, line...)
		line = in.long
	}
	if len(line) > MaxKeyBytes+len("\r\n") {
		err = errTooLong
	}
	if err == io.EOF && len(line) > 0 {
		return line, nil // the last line has no end of its own
	}
	if err != nil {
		return nil, in.readError(err)
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

// place returns the file with the number of the line or record read last.
func (in *input) place() string { return fmt.Sprintf("%s:%s%d", in.path, in.unit, in.number) }

// readError says why nothing more can be read at the present place. It hands on
// io.EOF as it is.
func (in *input) readError(err error) error {
	if err == io.EOF {
		return err
	}
	where := in.path
	if in.number > 0 {
		where = in.place()
	}
	var path *fs.PathError
	switch {
	case errors.Is(err, errTooLong):
		return fmt.Errorf("%s: longer than %d bytes, is this a file of keys?", where, MaxKeyBytes)
	case errors.As(err, &path):
		return fmt.Errorf("%s: %w", in.path, path.Err)
	case in.packed != nil && errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: the %s data end too early, fetch the file again", where, in.packed.name)
	case in.packed != nil:
		return fmt.Errorf("%s: bad %s data (%w), fetch the file again or mend its name", where, in.packed.name, err)
	}
	return fmt.Errorf("%s: %w", where, err)
}

var errTooLong = errors.New("line too long")

// A limit refuses to read on when far more than MaxKeyBytes were read since its
// reset: a quoted field that nobody closed would take the whole file.
type limit struct {
	r    io.Reader
	left int
}

func (l *limit) reset() { l.left = MaxKeyBytes + bufferSize }

func (l *limit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLong
	}
	n, err := l.r.Read(p)
	l.left -= n
	return n, err
}
