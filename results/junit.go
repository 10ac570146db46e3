package results

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

// A JUnit is a test report in the XML of JUnit, which every CI system shows. It
// keeps to what the schema of Ant asks for, the strictest of those in use.
type JUnit struct {
	Name       string      // of the suite
	Start      string      // RFC 3339
	Properties []Field     // of the machine and the run
	Cases      []JUnitCase // in the order in which they are shown
	Output     string      // text for whoever opens the report
}

// A JUnitCase is one test of the report. It passed when both reasons are "".
type JUnitCase struct {
	Class   string  // groups cases: a measure
	Name    string  // of a cell
	Seconds float64 // that it took
	Failure string  // why it failed: the first line is its headline
	Skipped string  // why nothing can be said
}

type junitSuite struct {
	XMLName    xml.Name        `xml:"testsuite"`
	Name       string          `xml:"name,attr"`
	Timestamp  string          `xml:"timestamp,attr"`
	Hostname   string          `xml:"hostname,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
	Out        string          `xml:"system-out"`
	Err        string          `xml:"system-err"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure"`
	Skipped *junitSkipped `xml:"skipped"`
}

type junitFailure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

// Write writes the report as XML.
func (j JUnit) Write(w io.Writer) error {
	suite := junitSuite{
		Name: j.Name, Timestamp: "1970-01-01T00:00:00", Hostname: "localhost",
		Tests: len(j.Cases), Out: j.Output,
		Properties: []junitProperty{{"format", "ringbench"}}, // the schema asks for the element
	}
	// The schema has no room for a time zone.
	if start, err := time.Parse(time.RFC3339, j.Start); err == nil {
		suite.Timestamp = start.UTC().Format("2006-01-02T15:04:05")
	}
	for _, p := range j.Properties {
		suite.Properties = append(suite.Properties, junitProperty(p))
	}
	total := 0.0
	for _, c := range j.Cases {
		out := junitCase{Name: c.Name, Class: c.Class, Time: seconds(c.Seconds)}
		switch {
		case c.Failure != "":
			headline, _, _ := strings.Cut(c.Failure, "\n")
			out.Failure = &junitFailure{"failed", headline, c.Failure}
			suite.Failures++
		case c.Skipped != "":
			out.Skipped = &junitSkipped{c.Skipped}
			suite.Skipped++
		}
		total += c.Seconds
		suite.Cases = append(suite.Cases, out)
	}
	suite.Time = seconds(total)
	b, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot encode as XML: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, b)
	return err
}

// seconds writes a time as a decimal, for the schema knows no exponents.
func seconds(s float64) string { return fmt.Sprintf("%.6f", s) }

// WriteJUnit writes a run as a test report: one test a cell, which fails where a
// check failed and is skipped where the algorithm cannot do what was asked. The
// values stand in the report's output.
func WriteJUnit(w io.Writer, s *Set) error {
	e := s.Run.Environment
	j := JUnit{Name: "ringbench " + s.Run.Suite, Start: s.Run.Start, Properties: []Field{
		{"version", s.Run.Version}, {"revision", e.Revision}, {"seed", fmt.Sprint(s.Run.Seed)}, {"machine", e.Machine()}, {"go", e.GoVersion},
	}}
	at := map[string]int{}
	var output strings.Builder
	for _, r := range Summarize(s) {
		if _, ok := at[r.Cell]; !ok {
			at[r.Cell] = len(j.Cases)
			j.Cases = append(j.Cases, JUnitCase{Class: "ringbench." + r.Measure, Name: r.Cell})
		}
		if m, ok := MetricByName(r.Metric); ok {
			fmt.Fprintf(&output, "%s %s %s %s\n", r.Cell, m.Name, formatFloat(r.Center), m.Unit)
		}
	}
	for i := range s.Trials {
		t := &s.Trials[i]
		c := &j.Cases[at[t.Cell]]
		if t.Timing != nil {
			c.Seconds += float64(t.Timing.WallNs) / 1e9
		}
		switch {
		case t.Failed() && c.Failure == "":
			c.Failure = t.Skip
		case t.Skip != "" && len(t.Values) == 0:
			c.Skipped = t.Skip
		}
	}
	j.Output = output.String()
	return j.Write(w)
}
