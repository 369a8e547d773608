package web

import (
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"pgtaskd/work"
)

// kind is one of the metrics.
type kind struct {
	name, help string
	sort       prometheus.ValueType
	labels     []string // besides the target
	desc       *prometheus.Desc
}

func newKind(sort prometheus.ValueType, name, help string, labels ...string) *kind {
	k := &kind{name: "pgtaskd_" + name, help: help, sort: sort, labels: labels}
	k.desc = prometheus.NewDesc(k.name, help, append([]string{"target"}, labels...), nil)
	kinds = append(kinds, k)
	return k
}

// kinds are all metrics of a target.
var kinds []*kind

const (
	counter = prometheus.CounterValue
	gauge   = prometheus.GaugeValue
	times   = prometheus.UntypedValue // a histogram, or a summary without quantiles
)

var (
	tasksTotal   = newKind(counter, "tasks_total", "Tasks that this controller has brought to a state. PLAN: they run again, after a failure or an interruption.", "state")
	runSeconds   = newKind(times, "run_seconds", "How long runs took.")
	waitSeconds  = newKind(times, "wait_seconds", "From plan, or from the INSERT if that came later, to the start of a run.")
	running      = newKind(gauge, "running", "Tasks that run.")
	ready        = newKind(gauge, "ready", "Tasks that are due, do not run, and are known to the leader, who looks at a million at most.")
	waiting      = newKind(gauge, "waiting", "Tasks that are planned for later, counted up to 100000, once a minute.")
	oldest       = newKind(gauge, "oldest_due_seconds", "How long the oldest due task that does not run has been due, once a minute.")
	skipped      = newKind(counter, "skipped_periods_total", "Periods of repeating tasks that passed without a run.", "reason")
	lastSuccess  = newKind(gauge, "last_success_timestamp_seconds", "When a job that has an owner was last DONE, once a minute.", "key")
	wakeups      = newKind(counter, "wakeups_total", "What has woken the leader.", "kind")
	scanSeconds  = newKind(times, "scan_seconds", "Looks at what is due.")
	writeSeconds = newKind(times, "write_seconds", "Statements that write ends of tasks.")
	reconnects   = newKind(counter, "reconnects_total", "Control connections that were made after the first.")
	leader       = newKind(gauge, "leader", "1: this controller leads the target; 0: it does not.")
	follower     = newKind(gauge, "follower", "1: this controller stands by while another leads; 0: it does not.")
	sessions     = newKind(gauge, "sessions", "Sessions that are open for tasks.")
	tableBytes   = newKind(gauge, "table_bytes", "Size of the table with its indexes and partitions, once a minute.")
	deadRows     = newKind(gauge, "dead_rows", "Dead rows of the table, once a minute.")
)

// build is the metric of the version.
func build(version string) prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "pgtaskd_build_info", Help: "1.", ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	})
	info.Set(1)
	return info
}

// collector reads the targets when somebody asks for the metrics.
type collector struct{ site *Site }

// Describe sends what Collect may.
func (c collector) Describe(descs chan<- *prometheus.Desc) {
	for _, k := range kinds {
		descs <- k.desc
	}
}

// Collect sends the metrics of all targets.
func (c collector) Collect(metrics chan<- prometheus.Metric) {
	for _, t := range c.site.targets() {
		t.collect(metrics)
	}
}

func (t shown) collect(metrics chan<- prometheus.Metric) {
	f := t.stats.Read()
	one := func(k *kind, value float64, labels ...string) { metrics <- t.series.one(k, value, labels...) }
	for i, state := range work.Ends {
		one(tasksTotal, float64(f.Ended[i]), state)
	}
	for i, reason := range work.Skips {
		one(skipped, float64(f.Skipped[i]), reason)
	}
	for i, way := range work.Wakes {
		one(wakeups, float64(f.Woken[i]), way)
	}
	one(reconnects, float64(f.Reconnects))
	one(running, float64(f.Running))
	one(ready, float64(f.Ready))
	one(sessions, float64(f.Seated))
	one(leader, number(f.Standing.Leads))
	one(follower, number(f.Standing.StandsBy))
	metrics <- t.series.histogram(runSeconds, f.Run)
	metrics <- t.series.histogram(waitSeconds, f.Wait)
	metrics <- t.series.summary(scanSeconds, f.Scan)
	metrics <- t.series.summary(writeSeconds, f.Write)
	if f.Table == nil {
		return
	}
	one(waiting, float64(f.Table.Later))
	one(oldest, f.Table.Oldest.Seconds())
	one(tableBytes, float64(f.Table.Bytes))
	one(deadRows, float64(f.Table.Dead))
	said := map[string]bool{}
	for key, at := range f.Table.Successes {
		if key = label(key); !said[key] {
			said[key] = true
			metrics <- t.series.passing(lastSuccess, float64(at.UnixMicro())/1e6, key)
		}
	}
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func seconds(d time.Duration) float64 { return d.Seconds() }
