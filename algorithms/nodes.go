package algorithms

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Validate checks a node list: at least one node, names that are neither empty
// nor repeated, weights that are finite and not negative, at least one
// weight above zero, and a finite sum of weights.
func Validate(nodes []Node) error {
	if len(nodes) == 0 {
		return errors.New("no nodes, name at least one")
	}
	seen := make(map[string]int, len(nodes))
	total := 0.0
	for i, n := range nodes {
		if err := n.validate(); err != nil {
			return fmt.Errorf("node %d: %w", i+1, err)
		}
		if first, dup := seen[n.Name]; dup {
			return fmt.Errorf("node %d: name %q is taken by node %d, names must differ", i+1, n.Name, first+1)
		}
		seen[n.Name] = i
		total += n.Weight
	}
	if total == 0 {
		return errors.New("all weights are zero, at least one node must own something")
	}
	if math.IsInf(total, 0) {
		return errors.New("the weights add up to more than a number can hold, divide all of them by the same")
	}
	return nil
}

// validate checks one node by itself.
func (n Node) validate() error {
	if n.Name == "" {
		return errors.New("empty node name")
	}
	return ValidateWeight(n.Weight)
}

// ValidateWeight refuses a weight that is negative, NaN or infinite.
func ValidateWeight(w float64) error {
	if w < 0 || math.IsNaN(w) || math.IsInf(w, 0) {
		return fmt.Errorf("weight %v, it must be a finite number of 0 or more", w)
	}
	return nil
}

// EqualWeights reports whether all nodes have the same weight.
func EqualWeights(nodes []Node) bool {
	for _, n := range nodes {
		if n.Weight != nodes[0].Weight {
			return false
		}
	}
	return true
}

// ParseNode reads NAME[=WEIGHT], split at the last "=". The weight is 1 when
// there is none; a name that itself holds "=" needs its weight written.
func ParseNode(s string) (Node, error) {
	n := Node{Name: s, Weight: 1}
	if i := strings.LastIndexByte(s, '='); i >= 0 {
		w, err := parseWeight(s[i+1:])
		if err != nil {
			return Node{}, fmt.Errorf("node %q: %w", s, err)
		}
		n.Name, n.Weight = s[:i], w
	}
	if err := n.validate(); err != nil {
		return Node{}, fmt.Errorf("node %q: %w", s, err)
	}
	return n, nil
}

// maxNodeLine is the longest line that ReadNodes takes, in bytes.
const maxNodeLine = 1 << 20

// ReadNodes reads a nodes file: one node a line, name[,weight[,zone]], with
// blank lines and lines that start with # passed over. The weight is 1 and the
// zone empty when not given. Errors begin with file:line.
func ReadNodes(r io.Reader, file string) ([]Node, error) {
	var nodes []Node
	where := map[string]int{}
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxNodeLine)
	line := 0
	for s.Scan() {
		line++
		text := s.Text()
		if line == 1 {
			text = strings.TrimPrefix(text, "\ufeff") // byte order mark
		}
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		n, err := parseNodeLine(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, line, err)
		}
		if first, dup := where[n.Name]; dup {
			return nil, fmt.Errorf("%s:%d: name %q is taken by line %d, names must differ", file, line, n.Name, first)
		}
		where[n.Name] = line
		nodes = append(nodes, n)
	}
	switch err := s.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s:%d: line longer than %d bytes, is this a nodes file?", file, line+1, maxNodeLine)
	case err != nil:
		return nil, fmt.Errorf("%s:%d: %w", file, line+1, err)
	}
	if err := Validate(nodes); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return nodes, nil
}

func parseNodeLine(text string) (Node, error) {
	if !utf8.ValidString(text) {
		return Node{}, errors.New("not UTF-8, is this a nodes file?")
	}
	fields := strings.Split(text, ",")
	if len(fields) > 3 {
		return Node{}, fmt.Errorf("%d fields, want name[,weight[,zone]]", len(fields))
	}
	for i, f := range fields {
		fields[i] = strings.TrimSpace(f)
	}
	n := Node{Name: fields[0], Weight: 1}
	if len(fields) > 1 {
		w, err := parseWeight(fields[1])
		if err != nil {
			return Node{}, err
		}
		n.Weight = w
	}
	if len(fields) > 2 {
		n.Zone = fields[2]
	}
	return n, n.validate()
}

func parseWeight(s string) (float64, error) {
	w, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("weight %q is not a number", s)
	}
	return w, nil
}
