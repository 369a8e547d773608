package web

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgtaskd/work/target"
)

// shownMetrics returns the metrics of a site with one target, about which everything is known.
func shownMetrics(t *testing.T) string {
	t.Helper()
	s := opened(t)
	to := single(t, "host=a user=u dbname=shop")
	to.Stats = target.NewStats()
	to.Stats.Sees(target.Survey{Successes: map[string]time.Time{"nightly": time.Unix(1, 0)}})
	s.Show([]target.Target{to})
	_, text := s.get("/metrics")
	return text
}

var (
	typed  = regexp.MustCompile(`(?m)^# TYPE (pgtaskd_\w+) (\w+)$`)
	inText = regexp.MustCompile(`\bpgtaskd_[a-z_]+`)
	inRow  = regexp.MustCompile("(?m)^\\| `(pgtaskd_\\w+)(?:\\{([a-z, ]+)\\})?` \\|")
)

// metricNames returns the names of all metrics, without and with the parts of histograms.
func metricNames(text string) (whole, all []string) {
	for _, found := range typed.FindAllStringSubmatch(text, -1) {
		whole = append(whole, found[1])
		all = append(all, found[1])
		if found[2] == "histogram" {
			all = append(all, found[1]+"_sum", found[1]+"_count", found[1]+"_bucket")
		}
	}
	return whole, all
}

// TestAllMetricsAreShown: every kind has a metric once there are values.
func TestAllMetricsAreShown(t *testing.T) {
	t.Parallel()
	whole, _ := metricNames(shownMetrics(t))
	want := []string{"pgtaskd_build_info", "pgtaskd_config_stale"}
	for _, k := range kinds {
		want = append(want, k.name)
	}
	slices.Sort(want)
	if slices.Sort(whole); !slices.Equal(whole, want) {
		t.Errorf("shown are %v, not %v", whole, want)
	}
}

// TestRulesAndDashboardNameMetricsThatExist: and the reference names all, with their labels.
func TestRulesAndDashboardNameMetricsThatExist(t *testing.T) {
	t.Parallel()
	whole, all := metricNames(shownMetrics(t))
	for _, path := range []string{"../docs/prometheus/rules.yml", "../docs/prometheus/dashboard.json", "../docs/operations.md", "../README.md"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range inText.FindAllString(string(text), -1) {
			if !slices.Contains(all, name) && !strings.HasSuffix(name, "_") {
				t.Errorf("%s names %s, which is no metric", path, name)
			}
		}
	}
	text, err := os.ReadFile("../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for _, row := range inRow.FindAllStringSubmatch(string(text), -1) {
		documented[row[1]] = row[2]
	}
	for _, k := range kinds {
		if labels, known := documented[k.name]; !known || labels != strings.TrimSuffix("target, "+k.label, ", ") {
			t.Errorf("the reference has %s with the labels %q", k.name, labels)
		}
	}
	for name := range documented {
		if !slices.Contains(whole, name) {
			t.Errorf("the reference has %s, which is no metric", name)
		}
	}
}

// TestPromtoolAcceptsMetricsAndRules: without promtool, the other tests must suffice.
func TestPromtoolAcceptsMetricsAndRules(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Log("promtool is missing: server/install.sh promtool installs it")
		return
	}
	check := exec.Command(promtool, "check", "metrics")
	check.Stdin = strings.NewReader(shownMetrics(t))
	if said, err := check.CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("%v\n%s", err, said)
	}
	if said, err := exec.Command(promtool, "check", "config", "../docs/prometheus/prometheus.yml").CombinedOutput(); err != nil || !strings.Contains(string(said), "SUCCESS: 10 rules found") {
		t.Errorf("%v\n%s", err, said)
	}
}
