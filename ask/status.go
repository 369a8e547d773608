package ask

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/human"
	"pgtaskd/routine"
	"pgtaskd/sql/lock"
	"pgtaskd/web/rows"
	"pgtaskd/work"
	"pgtaskd/work/control"
)

// lookedAt is how many due tasks, and how many of the newest tasks, a status looks at. A + marks
// counts that may be higher.
const lookedAt = 100_000

// perServer is how many sessions are open to one server at once.
const perServer = 16

// Status is the state of a target.
type Status struct {
	Target    string       `json:"target"`
	Error     string       `json:"error,omitempty"` // why the rest is missing or incomplete
	Leader    *Controller  `json:"leader"`          // nil: nobody leads
	Followers []Controller `json:"followers"`
	Tasks     *Tasks       `json:"tasks,omitempty"`
	Failed    *Failed      `json:"failed_24h,omitempty"`
	Paused    []PausedJob  `json:"paused_jobs,omitempty"` // the first ones
}

// Controller is a leader or a follower. Unknown fields are empty.
type Controller struct {
	Name    string  `json:"controller,omitempty"`
	PID     int32   `json:"pid,omitempty"` // of its session
	Host    string  `json:"host,omitempty"`
	Process int32   `json:"process,omitempty"` // its process id there
	Since   string  `json:"since,omitempty"`
	Seconds float64 `json:"seconds,omitempty"` // since then
	Version string  `json:"version,omitempty"`
}

// Tasks counts due tasks.
type Tasks struct {
	Ready   int64   `json:"ready"`
	Running int64   `json:"running"`
	Oldest  string  `json:"oldest_due,omitempty"` // plan of the oldest ready task
	Waits   float64 `json:"oldest_seconds,omitempty"`
	More    bool    `json:"more"` // there may be more than the status looked at
}

// Failed counts the tasks that failed within 24 hours.
type Failed struct {
	Count int64 `json:"count"`
	More  bool  `json:"more"` // only the newest tasks were looked at
}

// ShowStatus shows the state of targets, as far as they answer within the limit. It fails if a
// target has no leader or cannot be reached.
func ShowStatus(ctx context.Context, s *Screen, targets []work.Target, limit time.Duration) error {
	all := statuses(ctx, targets, limit)
	failed := false
	rows := [][]string{{"TARGET", "LEADER", "SINCE", "STANDBY", "READY", "RUNNING", "OLDEST DUE", "FAIL 24 H"}}
	for _, st := range all {
		failed = failed || st.Leader == nil || st.Error != ""
		if s.Objects == nil {
			rows = append(rows, st.row())
		} else if err := s.Object(st); err != nil {
			return err
		}
	}
	if s.Objects == nil {
		if err := s.Table(rows); err != nil {
			return err
		}
	}
	for _, st := range all {
		if s.Objects != nil {
			continue
		}
		for _, job := range st.Paused {
			if err := s.Line("%s: %s", st.Target, job); err != nil {
				return err
			}
		}
		if st.Error != "" {
			s.Remark("%s: %s", st.Target, st.Error)
		}
	}
	if failed {
		return ErrFailed
	}
	return nil
}

// statuses asks all targets at once. Targets of one database and role share a session.
func statuses(ctx context.Context, targets []work.Target, limit time.Duration) []Status {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %s", human.Duration(limit)))
	defer cancel()
	all := make([]Status, len(targets))
	same, slots := map[string][]int{}, map[string]chan struct{}{}
	for i, t := range targets {
		all[i] = Status{Target: t.Name(), Followers: []Controller{}}
		same[t.Connect.String()] = append(same[t.Connect.String()], i)
		slots[server(t)] = make(chan struct{}, perServer)
	}
	crew := routine.New(ctx)
	for _, group := range same {
		slot := slots[server(targets[group[0]])]
		crew.Go(func() {
			select {
			case slot <- struct{}{}:
				defer func() { <-slot }()
			case <-ctx.Done():
			}
			var conn *pgx.Conn
			for _, i := range group {
				err := inquire(ctx, &conn, targets[i], &all[i])
				switch {
				case err != nil && ctx.Err() != nil:
					all[i].Error = context.Cause(ctx).Error()
				case err != nil:
					all[i].Error = err.Error()
				}
			}
			if conn != nil {
				control.HangUp(conn)
			}
		})
	}
	crew.Wait()
	return all
}

// inquire asks a target in the given session, or opens it first.
func inquire(ctx context.Context, conn **pgx.Conn, t work.Target, st *Status) (err error) {
	if *conn == nil || (*conn).IsClosed() {
		if *conn, err = control.Dial(ctx, t, "pgtaskd-status"); err != nil {
			return fmt.Errorf("cannot connect: %w", err)
		}
	}
	b, err := admit(ctx, *conn, t, rows.Reads)
	if err != nil {
		return err
	}
	return b.look(ctx, func() error { return b.status(ctx, st) })
}

func server(t work.Target) string {
	return strings.Join([]string{t.Connect["host"], t.Connect["hostaddr"], t.Connect["port"], t.Connect["service"]}, "\x00")
}

func (b *table) status(ctx context.Context, st *Status) error {
	if err := b.controllers(ctx, st); err != nil {
		return err
	}
	var tasks Tasks
	var oldest pgtype.Text
	err := b.conn.QueryRow(ctx, b.queries.Text("open"), lookedAt).Scan(&tasks.Ready, &tasks.Running, &oldest, &tasks.Waits, &tasks.More)
	if err != nil {
		return err
	}
	tasks.Oldest, st.Tasks = human.ISO(oldest.String), &tasks
	var failed Failed
	if err := b.conn.QueryRow(ctx, b.queries.Text("failed"), lookedAt).Scan(&failed.Count, &failed.More); err != nil {
		return err
	}
	st.Failed = &failed
	st.Paused, err = b.paused(ctx)
	return err
}

// controllers finds the leader, which holds the lock, and the followers, which have sessions. The
// table of controllers tells more about them.
func (b *table) controllers(ctx context.Context, st *Status) error {
	holder, err := lock.Leadership(b.Name, false).Holder(ctx, b.conn)
	if err != nil {
		return err
	}
	var leads int32
	if holder != nil {
		leads = holder.PID
		st.Leader = &Controller{PID: leads}
	}
	rows, err := b.conn.Query(ctx, b.queries.Text("sessions"), leads, b.Target.ControlName(), b.Name.Schema, b.Name.Name)
	if err != nil {
		return err
	}
	var c Controller
	var own bool
	_, err = pgx.ForEachRow(rows, []any{&c.PID, &own, &c.Host, &c.Since, &c.Seconds}, func() error {
		one := c
		one.Since = human.ISO(c.Since)
		if own {
			st.Leader = &one
		} else {
			st.Followers = append(st.Followers, one)
		}
		return nil
	})
	if err != nil || !b.Has("leader") {
		return err
	}
	return b.registered(ctx, st)
}

// registered adds facts from the table of controllers. A controller without a session does not
// count, whatever the table says.
func (b *table) registered(ctx context.Context, st *Status) error {
	rows, err := b.conn.Query(ctx, b.queries.Text("controllers"))
	if err != nil {
		return err
	}
	var c Controller
	var leads, found bool
	var followers []Controller
	_, err = pgx.ForEachRow(rows, []any{&c.Name, &leads, &c.Since, &c.Seconds, &c.Host, &c.Process, &c.Version}, func() error {
		one := c
		one.Since = human.ISO(c.Since)
		switch {
		case !leads:
			followers = append(followers, one)
		case st.Leader != nil && !found:
			found = true
			one.PID = st.Leader.PID
			st.Leader = &one
		}
		return nil
	})
	if len(followers) >= len(st.Followers) {
		st.Followers = append([]Controller{}, followers[:len(st.Followers)]...)
	}
	return err
}

// row makes a line for people.
func (st Status) row() []string {
	leader, since := "nobody leads", ""
	if st.Leader == nil && st.Error != "" {
		leader = "unknown"
	}
	if l := st.Leader; l != nil {
		leader = l.String()
		if l.Since != "" {
			since = fmt.Sprintf("%s (%s)", brief(l.Since), span(l.Seconds))
		}
	}
	standby := make([]string, len(st.Followers))
	for i, f := range st.Followers {
		standby[i] = f.String()
	}
	row := []string{st.Target, leader, since, strings.Join(standby, ", "), "?", "?", "?", "?"}
	if t := st.Tasks; t != nil {
		row[4], row[5], row[6] = counted(t.Ready, t.More), counted(t.Running, t.More), ""
		if t.Oldest != "" {
			row[6] = span(t.Waits)
		}
	}
	if f := st.Failed; f != nil {
		row[7] = counted(f.Count, f.More)
	}
	for i, cell := range row {
		row[i] = cmp.Or(cell, "-")
	}
	return row
}

// counted writes a number that may be higher.
func counted(n int64, more bool) string {
	if more {
		return fmt.Sprint(n, "+")
	}
	return fmt.Sprint(n)
}

func (c Controller) String() string {
	switch {
	case c.Process != 0:
		return fmt.Sprintf("%s process %d", c.Host, c.Process)
	case c.Host != "":
		return fmt.Sprintf("%s pid %d", c.Host, c.PID)
	}
	return fmt.Sprint("pid ", c.PID)
}
