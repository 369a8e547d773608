package web

import (
	"maps"
	"slices"
	"strconv"

	"pgtaskd/human"
	"pgtaskd/work/target"
)

// kind is a metric of each target.
type kind struct {
	name, help string
	sort       string // counter, gauge or histogram
	label      string // beside the target; "": none
	of         func(*target.Figures) []sample
}

// sample is one value of a metric.
type sample struct {
	suffix string // added to the metric's name
	label  string // name and value; "": none
	value  float64
}

// kinds are the metrics of a target.
var kinds = []kind{
	{
		"pgtaskd_tasks_total", "Tasks that this controller has brought to a state. PLAN: they run again, after a failure or an interruption.", "counter",
		"state", func(f *target.Figures) []sample { return counts("state", target.Ends[:], f.Ended[:]) },
	},
	{"pgtaskd_run_seconds", "How long runs took.", "histogram", "", func(f *target.Figures) []sample { return buckets(f.Run) }},
	{
		"pgtaskd_wait_seconds", "From plan, or from the INSERT if that came later, to the start of a run.", "histogram",
		"", func(f *target.Figures) []sample { return buckets(f.Wait) },
	},
	{"pgtaskd_running", "Tasks that run.", "gauge", "", one(func(f *target.Figures) float64 { return float64(f.Running) })},
	{
		"pgtaskd_ready", "Tasks that are due, do not run, and are known to the leader, who looks at a million at most.", "gauge",
		"", one(func(f *target.Figures) float64 { return float64(f.Ready) }),
	},
	{
		"pgtaskd_waiting", "Tasks that are planned for later, counted up to 100000, once a minute.", "gauge",
		"", surveyed(func(s *target.Survey) float64 { return float64(s.Later) }),
	},
	{
		"pgtaskd_oldest_due_seconds", "How long the oldest due task that does not run has been due, once a minute.", "gauge",
		"", surveyed(func(s *target.Survey) float64 { return s.Oldest.Seconds() }),
	},
	{
		"pgtaskd_skipped_periods_total", "Periods of repeating tasks that passed without a run.", "counter",
		"reason", func(f *target.Figures) []sample { return counts("reason", target.Skips[:], f.Skipped[:]) },
	},
	{"pgtaskd_last_success_timestamp_seconds", "When a job that has an owner was last DONE, once a minute.", "gauge", "key", successes},
	{
		"pgtaskd_jobs_paused", "Jobs that are paused, by max_failures or a STOP, once a minute.", "gauge",
		"reason", func(f *target.Figures) (all []sample) {
			for i, reason := range target.Pauses {
				if f.Table != nil {
					all = append(all, sample{label: label("reason", reason), value: float64(f.Table.Paused[i])})
				}
			}
			return all
		},
	},
	{
		"pgtaskd_unknown_total", "Runs that FAIL with TK003: it is not known whether their transaction was committed.", "counter",
		"", one(func(f *target.Figures) float64 { return float64(f.Unknown) }),
	},
	{
		"pgtaskd_reconnects_total", "Control connections that were made after the first.", "counter",
		"", one(func(f *target.Figures) float64 { return float64(f.Reconnects) }),
	},
	{
		"pgtaskd_leader", "1: this controller leads the target; 0: it does not.", "gauge",
		"", one(func(f *target.Figures) float64 { return number(f.Standing.Leads) }),
	},
	{
		"pgtaskd_follower", "1: this controller stands by while another leads; 0: it does not.", "gauge",
		"", one(func(f *target.Figures) float64 { return number(f.Standing.StandsBy) }),
	},
	{
		"pgtaskd_copy", "1: the table is a copy that nobody has adopted, and is not served; 0: it is none.", "gauge",
		"", one(func(f *target.Figures) float64 { return number(f.Standing.Copy) }),
	},
	{
		"pgtaskd_quiet", "1: this controller has closed everything, as there is no work (`quiet`); 0: it has not.", "gauge",
		"", one(func(f *target.Figures) float64 { return number(f.Standing.Quiet) }),
	},
	{"pgtaskd_sessions", "Sessions that are open for tasks.", "gauge", "", one(func(f *target.Figures) float64 { return float64(f.Seated) })},
	{
		"pgtaskd_table_bytes", "Size of the table with its indexes and partitions, once a minute.", "gauge",
		"", surveyed(func(s *target.Survey) float64 { return float64(s.Bytes) }),
	},
	{
		"pgtaskd_dead_rows", "Dead rows of the table, once a minute.", "gauge",
		"", surveyed(func(s *target.Survey) float64 { return float64(s.Dead) }),
	},
}

func one(of func(*target.Figures) float64) func(*target.Figures) []sample {
	return func(f *target.Figures) []sample { return []sample{{value: of(f)}} }
}

// surveyed returns a value of the table, once the table was surveyed.
func surveyed(of func(*target.Survey) float64) func(*target.Figures) []sample {
	return func(f *target.Figures) []sample {
		if f.Table == nil {
			return nil
		}
		return []sample{{value: of(f.Table)}}
	}
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func counts(of string, names []string, n []uint64) (all []sample) {
	for i, name := range names {
		all = append(all, sample{label: label(of, name), value: float64(n[i])})
	}
	return all
}

// bounds are the labels of the buckets.
var bounds = func() (all []string) {
	for _, d := range target.Buckets {
		all = append(all, label("le", strconv.FormatFloat(d.Seconds(), 'g', -1, 64)))
	}
	return append(all, label("le", "+Inf"))
}()

func buckets(t target.Times) []sample {
	all, total := make([]sample, 0, len(bounds)+2), uint64(0)
	for i, n := range t.Counts {
		total += n
		all = append(all, sample{suffix: "_bucket", label: bounds[i], value: float64(total)})
	}
	return append(all, sample{suffix: "_sum", value: t.Sum.Seconds()}, sample{suffix: "_count", value: float64(total)})
}

// successes has a sample for each key. Of keys that look alike, the latest success counts.
func successes(f *target.Figures) (all []sample) {
	if f.Table == nil {
		return nil
	}
	latest := map[string]float64{}
	for key, at := range f.Table.Successes {
		name := human.Visible(key)
		latest[name] = max(latest[name], float64(at.UnixMicro())/1e6)
	}
	for _, name := range slices.Sorted(maps.Keys(latest)) {
		all = append(all, sample{label: label("key", name), value: latest[name]})
	}
	return all
}
