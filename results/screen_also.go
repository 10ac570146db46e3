package results

import (
	"io"
	"slices"
	"strings"
)

// A topic is what one suite of a run asks of a measure, and of one that looks keys up
// under which popularity, "" for the uniform one. In a run of several suites their names
// stand before those of the experiments; else the suite is "".
type topic struct{ suite, measure, popularity string }

func (r *Row) topic() topic {
	suite, _, several := strings.Cut(r.Experiment, ": ")
	if !several {
		suite = ""
	}
	t := topic{suite: suite, measure: r.Measure}
	if looksUp(r.Measure) && !r.under(evenly) {
		t.popularity = r.popularity()
	}
	return t
}

// name is what the topic is called beside others of its suite.
func (t topic) name() string {
	if t.popularity == "" {
		return t.measure
	}
	return t.measure + " under " + plainWords(t.popularity)
}

// show notes that a table holds figures of these rows.
func (v view) show(rows ...*Row) {
	for _, r := range rows {
		v.marked = v.marked || v.marks(r)
		if !r.control() {
			v.shown[r.topic()] = true
		}
	}
}

// WriteAlso writes what was measured and stands in no table of [WriteExact] and
// [WriteMeasured], for the screen has room for one question: the measures, by suite
// where the run has several, with the number of contestants. It writes nothing when
// the screen holds something of every measure.
func WriteAlso(w io.Writer, s *Set) error {
	v := newView(s)
	v.exactSections()
	if v.timed() {
		v.measuredSections()
	}
	text := v.also()
	if text == "" {
		return nil
	}
	_, err := io.WriteString(w, strings.Join(fold(text), "\n")+"\n")
	return err
}

// also words what no table holds.
func (v view) also() string {
	var suites []string
	missing := map[string][]string{} // measures by suite
	contestants := map[string]map[string]bool{}
	for _, r := range slices.Concat(v.rows, v.aged) {
		at := r.topic()
		if r.Metric == "" || r.control() || v.shown[at] || at.measure == "pool-probe" { // which looks at the run itself
			continue
		}
		group := at.suite
		if group == "" {
			group = at.name() // each measure with its own contestants
		}
		if contestants[group] == nil {
			suites, contestants[group] = append(suites, group), map[string]bool{}
		}
		contestants[group][r.Label] = true
		if !slices.Contains(missing[group], at.name()) {
			missing[group] = append(missing[group], at.name())
		}
	}
	var parts []string
	for _, group := range suites {
		part := strings.Join(missing[group], ", ")
		if part != group {
			part = group + ": " + part
		}
		parts = append(parts, part+" ("+plural(len(contestants[group]), "contestant")+")")
	}
	if parts == nil {
		return ""
	}
	return "Also measured, in the report: " + strings.Join(parts, "; ") + "."
}
