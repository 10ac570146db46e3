package results

import "io"

// WriteExact writes the first part of the first screen.
func WriteExact(w io.Writer, s *Set) error { return nil }

// WriteMeasured writes the second part of the first screen.
func WriteMeasured(w io.Writer, s *Set) error { return nil }

// Findings says in plain words what the data show.
func Findings(s *Set) []string { return nil }
