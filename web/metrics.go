package web

import (
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"pgtaskd/work"
)

// kind is a metric that each target has.
type kind struct {
	name, help string
	sort       dto.MetricType
	label      string   // besides the target; "": none
	values     []string // that label has; nil: any
	of         func(*work.Figures) any
}

// What of gives: a float64, counts, work.Times, work.Effort, *work.Survey for what any value of a
// label has, or nil where there is nothing to show. Values are compared, so that only what has
// changed is written again.
type counts [8]uint64

func countsOf(from []uint64) (c counts) {
	copy(c[:], from)
	return c
}

const (
	counter   = dto.MetricType_COUNTER
	gauge     = dto.MetricType_GAUGE
	histogram = dto.MetricType_HISTOGRAM
	summary   = dto.MetricType_SUMMARY
)

// kinds are all of them.
var kinds = []kind{
	{
		"pgtaskd_tasks_total", "Tasks that this controller has brought to a state. PLAN: they run again, after a failure or an interruption.", counter,
		"state", work.Ends[:], func(f *work.Figures) any { return countsOf(f.Ended[:]) },
	},
	{"pgtaskd_run_seconds", "How long runs took.", histogram, "", nil, func(f *work.Figures) any { return f.Run }},
	{
		"pgtaskd_wait_seconds", "From plan, or from the INSERT if that came later, to the start of a run.", histogram,
		"", nil, func(f *work.Figures) any { return f.Wait },
	},
	{"pgtaskd_running", "Tasks that run.", gauge, "", nil, func(f *work.Figures) any { return float64(f.Running) }},
	{
		"pgtaskd_ready", "Tasks that are due, do not run, and are known to the leader, who looks at a million at most.", gauge,
		"", nil, func(f *work.Figures) any { return float64(f.Ready) },
	},
	{
		"pgtaskd_waiting", "Tasks that are planned for later, counted up to 100000, once a minute.", gauge,
		"", nil, surveyed(func(s *work.Survey) float64 { return float64(s.Later) }),
	},
	{
		"pgtaskd_oldest_due_seconds", "How long the oldest due task that does not run has been due, once a minute.", gauge,
		"", nil, surveyed(func(s *work.Survey) float64 { return s.Oldest.Seconds() }),
	},
	{
		"pgtaskd_skipped_periods_total", "Periods of repeating tasks that passed without a run.", counter,
		"reason", work.Skips[:], func(f *work.Figures) any { return countsOf(f.Skipped[:]) },
	},
	{
		"pgtaskd_last_success_timestamp_seconds", "When a job that has an owner was last DONE, once a minute.", gauge,
		"key", nil, func(f *work.Figures) any { return f.Table },
	},
	{"pgtaskd_scan_seconds", "Looks at what is due.", summary, "", nil, func(f *work.Figures) any { return f.Scan }},
	{"pgtaskd_write_seconds", "Statements that write ends of tasks.", summary, "", nil, func(f *work.Figures) any { return f.Write }},
	{
		"pgtaskd_reconnects_total", "Control connections that were made after the first.", counter,
		"", nil, func(f *work.Figures) any { return float64(f.Reconnects) },
	},
	{
		"pgtaskd_leader", "1: this controller leads the target; 0: it does not.", gauge,
		"", nil, func(f *work.Figures) any { return number(f.Standing.Leads) },
	},
	{
		"pgtaskd_follower", "1: this controller stands by while another leads; 0: it does not.", gauge,
		"", nil, func(f *work.Figures) any { return number(f.Standing.StandsBy) },
	},
	{"pgtaskd_sessions", "Sessions that are open for tasks.", gauge, "", nil, func(f *work.Figures) any { return float64(f.Seated) }},
	{
		"pgtaskd_table_bytes", "Size of the table with its indexes and partitions, once a minute.", gauge,
		"", nil, surveyed(func(s *work.Survey) float64 { return float64(s.Bytes) }),
	},
	{
		"pgtaskd_dead_rows", "Dead rows of the table, once a minute.", gauge,
		"", nil, surveyed(func(s *work.Survey) float64 { return float64(s.Dead) }),
	},
}

// surveyed is a value that there is once the table was looked at.
func surveyed(of func(*work.Survey) float64) func(*work.Figures) any {
	return func(f *work.Figures) any {
		if f.Table == nil {
			return nil
		}
		return of(f.Table)
	}
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// build is the metric of the version.
func build(version string) prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "pgtaskd_build_info", Help: "1.", ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	})
	info.Set(1)
	return info
}

// bounds are the buckets' in seconds.
var bounds = func() (all [len(work.Buckets)]float64) {
	for i, d := range work.Buckets {
		all[i] = d.Seconds()
	}
	return all
}()

func unix(at time.Time) float64 { return float64(at.UnixMicro()) / 1e6 }
