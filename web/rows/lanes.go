package rows

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// Limits of what the timeline of lanes reads.
const (
	LanesNewest = 5000 // newest rows
	LanesPast   = 15 * time.Minute
	LanesAhead  = 24 * time.Hour
	plansMost   = 5000 // of all jobs
	plannedMost = 2000
)

// Span is a run, or a plan of one, with how long it usually takes.
type Span struct {
	Group    string             `json:"group"`
	ID       int64              `json:"id"`
	Key      *string            `json:"key"`
	State    string             `json:"state"`
	Start    pgtype.Timestamptz `json:"start"`
	Stop     pgtype.Timestamptz `json:"stop"`
	Planned  pgtype.Timestamptz `json:"planned"`
	Usual    *float64           `json:"usual"`    // seconds; nil: nobody knows
	Overlaps bool               `json:"overlaps"` // with another plan of its group
}

// laneRow is a row of lanes.sql.
type laneRow struct {
	ID    int64              `db:"id"`
	Key   *string            `db:"key"`
	Group string             `db:"group"`
	State string             `db:"state"`
	Start pgtype.Timestamptz `db:"start"`
	Stop  pgtype.Timestamptz `db:"stop"`
	Plan  pgtype.Timestamptz `db:"plan"`
	// Repeats: the plan is one of a job.
	Repeats bool `db:"repeats"`
}

// Lanes is who ran in the last 15 minutes, and what is planned for the next 24 hours.
type Lanes struct {
	Now   time.Time // by the server's clock
	Spans []Span    // by their start, plans after runs
	// AllJobs, AllPlans and AllRows are false if some were left out.
	AllJobs, AllPlans, AllRows bool
}

// Lanes returns the runs and the plans of the table.
func (b *Table) Lanes(ctx context.Context, h Hidden) (*Lanes, error) {
	l := &Lanes{}
	var err error
	if err = b.conn.QueryRow(ctx, "SELECT statement_timestamp()").Scan(&l.Now); err != nil {
		return nil, slow(err)
	}
	ahead := pgtype.Interval{Microseconds: LanesAhead.Microseconds(), Valid: true}
	found, err := list[laneRow](ctx, b, "lanes", LanesNewest, ahead, plannedMost+1)
	if err != nil {
		return nil, err
	}
	jobs, all, _, err := b.Jobs(ctx, h)
	if err != nil {
		return nil, err
	}
	l.AllJobs, l.AllPlans = all, true
	usual := usualTimes(found, jobs)
	l.addRuns(found, usual)
	l.addPlans(jobs, usual)
	slices.SortStableFunc(l.Spans, func(x, y Span) int {
		planned := func(s *Span) int {
			if s.Start.Valid {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(planned(&x), planned(&y)), x.begin().Compare(y.begin()), cmp.Compare(x.ID, y.ID))
	})
	markOverlaps(l.Spans)
	return l, nil
}

// begin returns the start of a run or plan.
func (s *Span) begin() time.Time {
	if s.Start.Valid {
		return s.Start.Time
	}
	return s.Planned.Time
}

// addRuns adds the runs of the last minutes, and the single plans.
func (l *Lanes) addRuns(found []laneRow, usual usuals) {
	seen, planned := 0, 0
	for _, r := range found {
		s := Span{Group: r.Group, ID: r.ID, Key: r.Key, State: r.State, Start: r.Start, Stop: r.Stop, Planned: r.Plan, Usual: usual.of(0, r.Key, r.Group)}
		if !r.Start.Valid {
			if planned++; planned > plannedMost {
				l.AllPlans = false
			}
			if r.Repeats || planned > plannedMost {
				continue
			}
		} else {
			seen++
			ended := r.Stop.Valid || r.State != "WORK" && r.State != "TAKE"
			if ended && (!finite(r.Stop) || r.Stop.Time.Before(l.Now.Add(-LanesPast))) {
				continue
			}
		}
		l.Spans = append(l.Spans, s)
	}
	l.AllRows = seen < LanesNewest
}

// addPlans adds the beats of the jobs.
func (l *Lanes) addPlans(jobs []Job, usual usuals) {
	repeating := 0
	for i := range jobs {
		if jobs[i].repeat() {
			repeating++
		}
	}
	most := min(plansMost/max(repeating, 1), int(LanesAhead/time.Minute))
	for i := range jobs {
		j := &jobs[i]
		seconds := usual.of(j.ID, j.Key, j.Group)
		took := time.Duration(0)
		if seconds != nil {
			took = time.Duration(*seconds * float64(time.Second))
		}
		plans := j.plans(l.Now, l.Now.Add(LanesAhead), took, most+1)
		if len(plans) > most {
			l.AllPlans, plans = false, plans[:most]
		}
		for _, at := range plans {
			l.Spans = append(l.Spans, Span{Group: j.Group, ID: j.ID, Key: j.Key, State: "PLAN", Planned: stamp(at), Usual: seconds})
		}
	}
}

// markOverlaps marks plans of one group that meet if they take as long as usual. Spans are sorted.
func markOverlaps(spans []Span) {
	type last struct {
		span *Span
		end  time.Time
	}
	open := map[string]last{} // of each group, the plan so far that ends last
	for i := range spans {
		s := &spans[i]
		if s.Start.Valid {
			continue
		}
		end := s.Planned.Time
		if s.Usual != nil {
			end = end.Add(time.Duration(*s.Usual * float64(time.Second)))
		}
		before := open[s.Group]
		if before.span != nil && (s.Planned.Time.Before(before.end) || s.Planned.Time.Equal(before.span.Planned.Time)) {
			s.Overlaps, before.span.Overlaps = true, true
		}
		if before.span == nil || end.After(before.end) {
			open[s.Group] = last{s, end}
		}
	}
}

// like stands for runs that should take about as long as one another: those of a job, of a key, or of
// a group.
type like struct {
	of   string // job, key or group
	job  int64
	name string
}

// usuals has the durations of runs.
type usuals map[like]float64

func (u usuals) of(job int64, key *string, group string) *float64 {
	all := []like{{of: "job", job: job}, {of: "group", name: group}}
	if key != nil {
		all = slices.Insert(all, 1, like{of: "key", name: *key})
	}
	for _, l := range all {
		if v, ok := u[l]; ok {
			return &v
		}
	}
	return nil
}

// usualTimes returns the medians of the runs that have ended.
func usualTimes(found []laneRow, jobs []Job) usuals {
	took := map[like][]float64{}
	add := func(l like, r Run) {
		if finite(r.Start) && finite(r.Stop) {
			took[l] = append(took[l], r.Took().Seconds())
		}
	}
	for _, r := range found {
		run := Run{Start: r.Start, Stop: r.Stop}
		add(like{of: "group", name: r.Group}, run)
		if r.Key != nil {
			add(like{of: "key", name: *r.Key}, run)
		}
	}
	for _, j := range jobs {
		for _, r := range j.Runs {
			add(like{of: "job", job: j.ID}, r)
		}
	}
	medians := usuals{}
	for l, values := range took {
		slices.Sort(values)
		medians[l] = values[len(values)/2]
	}
	return medians
}
