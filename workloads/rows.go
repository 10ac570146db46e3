package workloads

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A row is a key with the requests that it stands for and the bytes that each of
// them asks for, 0 when the file does not tell. The key is valid until the next
// row.
type row struct {
	key   []byte
	count float64
	size  float64
}

// rows yields the rows of the file. An error comes last.
func (o FileOptions) rows(path string) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		if err := o.check(); err != nil {
			yield(row{}, fmt.Errorf("%s: %w", path, err))
			return
		}
		in, err := open(path, o.Stdin)
		if err != nil {
			yield(row{}, err)
			return
		}
		defer in.close()
		next, err := o.reader(in)
		if err != nil {
			yield(row{}, err)
			return
		}
		for empty := true; ; empty = false {
			r, err := next()
			if err == io.EOF {
				if empty {
					yield(row{}, fmt.Errorf("%s: no keys, it is empty%s", path, o.belowHeader()))
				}
				return
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func (o FileOptions) belowHeader() string {
	if o.KeyColumn == "" {
		return ""
	}
	return " below the header"
}

func (o FileOptions) check() error {
	switch {
	case o.Format != "" && o.Format != LibCacheSimCSV && o.Format != OracleGeneral:
		return fmt.Errorf("unknown format %q, want %s or %s", o.Format, LibCacheSimCSV, OracleGeneral)
	case o.Format != "" && o.KeyColumn+o.CountColumn+o.SizeColumn != "":
		return fmt.Errorf("the format %s has its own columns, leave out column names or the format", o.Format)
	case o.KeyColumn == "" && o.CountColumn != "":
		return fmt.Errorf("count column %q without a key column, name that too", o.CountColumn)
	case o.KeyColumn == "" && o.SizeColumn != "":
		return fmt.Errorf("size column %q without a key column, name that too", o.SizeColumn)
	case o.KeyColumn != "" && o.KeyColumn == o.CountColumn:
		return fmt.Errorf("column %q cannot hold both keys and counts, name two columns", o.KeyColumn)
	case o.KeyColumn != "" && o.KeyColumn == o.SizeColumn:
		return fmt.Errorf("column %q cannot hold both keys and sizes, name two columns", o.KeyColumn)
	case o.CountColumn != "" && o.CountColumn == o.SizeColumn:
		return fmt.Errorf("column %q cannot hold both counts and sizes, name two columns", o.CountColumn)
	case o.Comma == '"' || o.Comma == '\r' || o.Comma == '\n':
		return fmt.Errorf("columns cannot be separated by %q, use a comma or a tab", o.Comma)
	}
	return nil
}

// reader returns the function that reads row after row.
func (o FileOptions) reader(in *input) (func() (row, error), error) {
	switch o.format(in.path) {
	case LibCacheSimCSV:
		return in.libCacheSimCSV(), nil
	case OracleGeneral:
		return in.oracleGeneral(), nil
	}
	if o.KeyColumn == "" {
		in.skipByteOrderMark()
		return func() (row, error) {
			line, err := in.line()
			return row{key: line, count: 1}, err
		}, nil
	}
	t, err := o.table(in)
	if err != nil {
		return nil, err
	}
	if t.comma == '\t' {
		return t.tsv(), nil
	}
	return t.csv(), nil
}

// A table knows where in a row the key, the count and the size stand.
type table struct {
	in       *input
	comma    rune
	names    []string // of the columns
	key      int      // index of the key column
	node     int      // index of the column of nodes, in an assignment
	count    int      // index of the count column, or -1
	size     int      // index of the size column, or -1
	firstRow int      // line number of the line below the header
}

// commas are the separators to try, in this order.
var commas = []rune{',', '\t', ';', '|'}

// table reads the header and finds the columns in it.
func (o FileOptions) table(in *input) (*table, error) {
	in.skipByteOrderMark()
	line, err := in.line()
	switch {
	case err == io.EOF:
		return nil, fmt.Errorf("%s: no keys, it is empty, want a header with the column %q", in.path, o.KeyColumn)
	case err != nil:
		return nil, err
	}
	header := string(line)
	tries := commas
	if o.Comma != 0 {
		tries = []rune{o.Comma}
	}
	t := &table{in: in, comma: tries[0], names: columns(header, tries[0]), count: -1, size: -1, firstRow: in.number + 1}
	for _, comma := range tries {
		if names := columns(header, comma); slices.Contains(names, o.KeyColumn) {
			t.comma, t.names = comma, names
			break
		}
	}
	if t.key, err = t.find(o.KeyColumn); err != nil {
		return nil, err
	}
	if o.CountColumn != "" {
		if t.count, err = t.find(o.CountColumn); err != nil {
			return nil, err
		}
	}
	if o.SizeColumn != "" {
		if t.size, err = t.find(o.SizeColumn); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// columns splits a header. One that is no CSV is a single column.
func columns(header string, comma rune) []string {
	if comma == '\t' {
		return strings.Split(header, "\t")
	}
	r := csv.NewReader(strings.NewReader(header))
	r.Comma = comma
	names, err := r.Read()
	if err != nil {
		return []string{header}
	}
	return names
}

// find returns the index of the column with that name.
func (t *table) find(name string) (int, error) {
	i := slices.Index(t.names, name)
	if i < 0 {
		quoted := make([]string, 0, len(t.names))
		for _, n := range t.names {
			quoted = append(quoted, strconv.Quote(n))
		}
		there := shorten(strings.Join(quoted, ", "))
		return 0, fmt.Errorf("%s:%d: no column %q, columns separated by %q are %s", t.in.path, t.in.number, name, t.comma, there)
	}
	if j := slices.Index(t.names[i+1:], name); j >= 0 {
		return 0, fmt.Errorf("%s:%d: columns %d and %d are both named %q, rename one", t.in.path, t.in.number, i+1, i+j+2, name)
	}
	return i, nil
}

// shorten keeps an error to one line of reasonable length.
func shorten(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	return text[:most] + "..."
}

// tsv returns the function that reads the rows of a TSV.
func (t *table) tsv() func() (row, error) {
	return func() (row, error) {
		line, err := t.in.line()
		for err == nil && len(line) == 0 {
			line, err = t.in.line()
		}
		if err != nil {
			return row{}, err
		}
		r := row{count: 1}
		width, column := 0, 1
		for field := range bytes.SplitSeq(line, []byte{'\t'}) {
			switch width {
			case t.key:
				r.key = field
			case t.count:
				if r.count, err = t.parse("count", t.count, string(field), t.in.number, column); err != nil {
					return row{}, err
				}
			case t.size:
				if r.size, err = t.parse("size", t.size, string(field), t.in.number, column); err != nil {
					return row{}, err
				}
			}
			width++
			column += len(field) + 1
		}
		if width != len(t.names) {
			return row{}, t.widthError(t.in.number, width)
		}
		return r, nil
	}
}

// csv returns the function that reads the rows of a CSV.
func (t *table) csv() func() (row, error) {
	r := csv.NewReader(t.in.r)
	r.Comma = t.comma
	r.FieldsPerRecord = len(t.names)
	r.ReuseRecord = true
	var key []byte
	return func() (row, error) {
		t.in.limit.reset()
		fields, err := r.Read()
		if err == io.EOF {
			return row{}, err
		}
		if err != nil {
			return row{}, t.csvError(err, len(fields))
		}
		line, _ := r.FieldPos(0)
		t.in.number = t.firstRow - 1 + line
		key = append(key[:0], fields[t.key]...)
		read := row{key: key, count: 1}
		if t.count >= 0 {
			line, column := r.FieldPos(t.count)
			read.count, err = t.parse("count", t.count, fields[t.count], t.firstRow-1+line, column)
		}
		if t.size >= 0 && err == nil {
			line, column := r.FieldPos(t.size)
			read.size, err = t.parse("size", t.size, fields[t.size], t.firstRow-1+line, column)
		}
		return read, err
	}
}

// csvError says where and why a CSV could not be read.
func (t *table) csvError(err error, width int) error {
	var bad *csv.ParseError
	if !errors.As(err, &bad) {
		t.in.number++
		return t.in.readError(err)
	}
	line := t.firstRow - 1 + bad.Line
	switch bad.Err {
	case csv.ErrFieldCount:
		return t.widthError(line, width)
	case csv.ErrBareQuote:
		return fmt.Errorf("%s:%d:%d: quotation mark within a field, put the field in quotation marks and double those in it", t.in.path, line, bad.Column)
	case csv.ErrQuote:
		return fmt.Errorf("%s:%d:%d: the quoted field does not end as it should, close it and double the quotation marks in it (the row begins at line %d)", t.in.path, line, bad.Column, t.firstRow-1+bad.StartLine)
	}
	return fmt.Errorf("%s:%d:%d: %w", t.in.path, line, bad.Column, bad.Err)
}

func (t *table) widthError(line, width int) error {
	return fmt.Errorf("%s:%d: %d columns where the header has %d, mend the row or the header", t.in.path, line, width, len(t.names))
}

// parse reads the number in a field of column i, which is called what.
func (t *table) parse(what string, i int, text string, line, column int) (float64, error) {
	x, ok := parseAmount(text)
	if !ok {
		return 0, fmt.Errorf("%s:%d:%d: %s %q in column %q is not a finite number of 0 or more", t.in.path, line, column, what, shorten(text), t.names[i])
	}
	return x, nil
}

// parseAmount reads a finite number of 0 or more.
func parseAmount(text string) (float64, bool) {
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return x, err == nil && x >= 0 && !math.IsInf(x, 1)
}
