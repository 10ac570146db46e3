package results

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// designed are the metrics that the contract of the project names, and those that
// later questions added.
const designed = `lookup-ns batch-lookup-ns latency-ns key-lookup-ns parallel-lookup-ns assign-ns build-ns add-ns remove-ns memory-bytes
allocs-per-lookup bytes-per-lookup footprint-bytes balance-cv balance-peak balance-min share-cv share-peak load-cv load-peak
moved-fraction moved-load-fraction moved-minimum disruption collateral-fraction ranges-moved monotonicity-violations failover-peak
view-disagreement replica-moved-fraction replica-balance-cv replica-zone-violations probes-per-lookup spill-fraction hot-key-nodes
bound-violations extra-steps full-fraction stickiness-lost weight-error point-collisions miss-peak miss-total quorum-exposure
view-disagreement-load extra-copies cached-fraction capacity-before capacity-after expected-cv replica-balance-peak replica-moved-minimum replica-collateral-fraction replica-failover-peak`

func TestTheTableHoldsTheDesignedMetrics(t *testing.T) {
	names := strings.Fields(designed)
	for _, name := range names {
		if m, ok := MetricByName(name); !ok || m.Name != name {
			t.Errorf("%s is missing", name)
		}
	}
	if len(names) != len(Metrics) {
		t.Errorf("table holds %d metrics, want %d", len(Metrics), len(names))
	}
	if m, ok := MetricByName("lookup"); ok {
		t.Errorf("MetricByName found %v for a name that is none", m)
	}
}

func TestEveryMetricExplainsItself(t *testing.T) {
	seen, labels := map[string]bool{}, map[string]string{}
	for _, m := range Metrics {
		if seen[m.Name] {
			t.Errorf("%s stands twice", m.Name)
		}
		seen[m.Name] = true
		if m.Unit == "" || m.Label == "" || m.Meaning == "" {
			t.Errorf("%s lacks a unit, a label or a meaning", m.Name)
		}
		if other := labels[m.Label]; other != "" {
			t.Errorf("%s and %s have the same label %q", other, m.Name, m.Label)
		}
		labels[m.Label] = m.Name
		if strings.ContainsAny(m.Meaning, "\n.") {
			t.Errorf("%s: meaning is not one line without a full stop: %q", m.Name, m.Meaning)
		}
		if !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(m.Name) {
			t.Errorf("%s is not in lower case with hyphens", m.Name)
		}
	}
}

func TestNamesTellTimedMetrics(t *testing.T) {
	for _, m := range Metrics {
		if timed := strings.HasSuffix(m.Name, "-ns"); timed != (m.Kind == Timed) || timed != (m.Unit == "ns") {
			t.Errorf("%s is %v in %s", m.Name, m.Kind, m.Unit)
		}
		if (m.Kind == Heap) != (m.Name == "memory-bytes") {
			t.Errorf("%s is %v", m.Name, m.Kind)
		}
	}
}

func TestFormatDocumentsEveryMetric(t *testing.T) {
	b, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, m := range Metrics {
		want.WriteString("| `" + m.Name + "` | " + m.Unit + " | " + m.Better.String() + " | " + m.Kind.String() + " | " + m.Meaning + " |\n")
	}
	if !strings.Contains(string(b), want.String()) {
		t.Errorf("FORMAT.md should hold this table:\n%s", want.String())
	}
}
