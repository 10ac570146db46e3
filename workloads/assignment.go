package workloads

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"slices"
)

// An Assignment is a file that tells which node each key is on: CSV with the
// header key,node[,count[,bytes]], or the same with tabs, semicolons or bars. The
// columns may stand in any order and among others. It is read row by row and never
// held; whoever opens one closes it.
type Assignment struct {
	Counted bool // there is a column count; without it each row is one request
	Sized   bool // there is a column bytes

	table *table
	in    *input
	text  []byte   // of a record that goes over several lines
	field [][]byte // of the row read last
	plain []byte   // what was quoted in it
}

// An AssignmentRow is one row. Key and Node are valid until the next row.
type AssignmentRow struct {
	Key, Node []byte
	Count     float64 // requests, finite and 0 or more
	Bytes     float64 // that these requests asked for together; 0 where the file does not tell
	Line      int     // on which the row begins, from 1
}

// The columns of an assignment.
const (
	assignedKey   = "key"
	assignedNode  = "node"
	assignedCount = "count"
	assignedBytes = "bytes"
)

// OpenAssignment opens the file and reads its header. The path "-" stands for
// stdin; a name that ends in .gz, .zst or .xz is decompressed. Errors begin with
// the file and the line.
func OpenAssignment(path string, stdin io.Reader) (*Assignment, error) {
	in, err := open(path, stdin)
	if err != nil {
		return nil, err
	}
	a := &Assignment{in: in}
	if err := a.header(); err != nil {
		in.close()
		return nil, err
	}
	return a, nil
}

func (a *Assignment) header() error {
	o := FileOptions{KeyColumn: assignedKey}
	t, err := o.table(a.in)
	if err == nil {
		t.node, err = t.find(assignedNode)
	}
	if err != nil {
		return fmt.Errorf("%w; an assignment begins with the line key,node[,count[,bytes]]", err)
	}
	a.table = t
	if a.Counted = slices.Contains(t.names, assignedCount); a.Counted {
		if t.count, err = t.find(assignedCount); err != nil {
			return err
		}
	}
	if a.Sized = slices.Contains(t.names, assignedBytes); a.Sized {
		t.size, err = t.find(assignedBytes)
	}
	return err
}

// Close closes the file.
func (a *Assignment) Close() { a.in.close() }

// Rows yields the rows in their order. An error comes last: of a row that cannot
// be read, and when there is none. It can be walked once.
func (a *Assignment) Rows() iter.Seq2[AssignmentRow, error] {
	return func(yield func(AssignmentRow, error) bool) {
		for empty := true; ; empty = false {
			row, err := a.next()
			if err == io.EOF {
				if empty {
					yield(row, fmt.Errorf("%s: no keys, it is empty below the header", a.in.path))
				}
				return
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

func (a *Assignment) next() (AssignmentRow, error) {
	line, err := a.in.line()
	for err == nil && (len(line) == 0 || len(line) == 1 && line[0] == '\r') {
		line, err = a.in.line()
	}
	if err != nil {
		return AssignmentRow{}, err
	}
	t := a.table
	row := AssignmentRow{Count: 1, Line: a.in.number}
	if err := a.split(line); err != nil {
		return row, err
	}
	if len(a.field) != len(t.names) {
		return row, t.widthError(row.Line, len(a.field))
	}
	row.Key, row.Node = a.field[t.key], a.field[t.node]
	if len(row.Node) == 0 {
		return row, fmt.Errorf("%s:%d: the key %q has no node, name one or drop the row", a.in.path, row.Line, shorten(string(row.Key)))
	}
	if t.count >= 0 {
		if row.Count, err = a.amount(assignedCount, t.count, row.Line); err != nil {
			return row, err
		}
	}
	if t.size >= 0 {
		row.Bytes, err = a.amount(assignedBytes, t.size, row.Line)
	}
	return row, err
}

// amount reads the number in field i of the row.
func (a *Assignment) amount(what string, i, line int) (float64, error) {
	text := a.field[i]
	if whole, ok := smallWhole(text); ok {
		return whole, nil
	}
	x, ok := parseAmount(string(text))
	if !ok {
		return 0, fmt.Errorf("%s:%d: %s %q is not a finite number of 0 or more", a.in.path, line, what, shorten(string(text)))
	}
	return x, nil
}

// smallWhole reads a number of a few digits, which most are.
func smallWhole(text []byte) (float64, bool) {
	const most = 15 // digits, which a float64 holds
	if len(text) == 0 || len(text) > most {
		return 0, false
	}
	n := int64(0)
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return float64(n), true
}

// split sets field to those of the row that begins with the line. In all but tabs
// a field in quotation marks may hold separators, doubled quotation marks and ends
// of lines, as in RFC 4180.
func (a *Assignment) split(line []byte) error {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	a.field = a.field[:0]
	comma := byte(a.table.comma)
	if comma == '\t' || bytes.IndexByte(line, '"') < 0 {
		for {
			i := bytes.IndexByte(line, comma)
			if i < 0 {
				a.field = append(a.field, line)
				return nil
			}
			a.field = append(a.field, line[:i])
			line = line[i+1:]
		}
	}
	return a.quoted(line, comma)
}

// quoted is split for a row with a quotation mark in it.
func (a *Assignment) quoted(line []byte, comma byte) error {
	first := a.in.number
	begins := []int{0} // where in the text each of its lines begins
	a.text = append(a.text[:0], line...)
	odd := func(text []byte) bool { return bytes.Count(text, []byte{'"'})%2 != 0 }
	for open := odd(line); open && len(a.text) <= MaxKeyBytes; {
		next, err := a.in.line()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		a.text = append(a.text, '\n')
		begins = append(begins, len(a.text))
		a.text = append(a.text, next...)
		open = !odd(next)
	}
	a.text = bytes.TrimSuffix(a.text, []byte{'\r'})
	place := func(at int) string {
		i, found := slices.BinarySearch(begins, at)
		if !found {
			i--
		}
		return fmt.Sprintf("%s:%d:%d", a.in.path, first+i, at-begins[i]+1)
	}
	a.plain = slices.Grow(a.plain[:0], len(a.text)) // so that fields keep their place
	for at := 0; ; at++ {
		text := a.text[at:]
		if len(text) == 0 || text[0] != '"' {
			i := bytes.IndexByte(text, comma)
			field := text
			if i >= 0 {
				field = text[:i]
			}
			if q := bytes.IndexByte(field, '"'); q >= 0 {
				return fmt.Errorf("%s: quotation mark within a field, put the field in quotation marks and double those in it", place(at+q))
			}
			a.field = append(a.field, field)
			if i < 0 {
				return nil
			}
			at += i
			continue
		}
		from := len(a.plain)
		opened := at
		for at++; ; at++ {
			i := bytes.IndexByte(a.text[at:], '"')
			if i < 0 {
				return fmt.Errorf("%s: the quoted field does not end, close it and double the quotation marks in it", place(opened))
			}
			a.plain = append(a.plain, a.text[at:at+i]...)
			if at += i + 1; at == len(a.text) || a.text[at] != '"' {
				break
			}
			a.plain = append(a.plain, '"')
		}
		a.field = append(a.field, a.plain[from:])
		if at == len(a.text) {
			return nil
		}
		if a.text[at] != comma {
			return fmt.Errorf("%s: the quoted field that begins at %s goes on behind its end, double the quotation marks in it", place(at), place(opened))
		}
	}
}
