package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/human"
	"pgtaskd/routine"
	"pgtaskd/web/rows"
	"pgtaskd/work"
	"pgtaskd/work/control"
)

// lookedAt is how many due tasks, and how many of the newest tasks, a status looks at. A + marks
// counts that may be higher.
const lookedAt = 100_000

// lockPatience is how long a status waits for a lock: other targets have the same session.
const lockPatience = "500ms"

// perServer is how many sessions are open to one server at once.
const perServer = 16

// Status is the state of a target.
type Status struct {
	Target    string       `json:"target"`
	Error     string       `json:"error,omitempty"` // why the rest is missing or incomplete
	Copy      string       `json:"copy,omitempty"`  // why the table is a copy that nobody has adopted
	Leader    *Controller  `json:"leader"`          // nil: nobody leads
	Followers []Controller `json:"followers"`
	Tasks     *Tasks       `json:"tasks,omitempty"`
	Failed    *Failed      `json:"failed_24h,omitempty"`
	Trouble
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
		failed = failed || st.Leader == nil || st.Error != "" || st.Copy != ""
		if s.Objects == nil {
			rows = append(rows, st.row())
		} else if err := s.Object(st); err != nil {
			return err
		}
	}
	if s.Objects == nil {
		if err := s.Table(rows, statusNarrow...); err != nil {
			return err
		}
		for _, st := range all {
			if st.Copy != "" {
				s.Remark("%s: %s", st.Target, st.Copy)
			}
			if err := s.trouble(&st); err != nil {
				return err
			}
		}
	}
	if failed {
		return ErrFailed
	}
	return nil
}

// statusNarrow are the columns of a status that make room: SINCE and STANDBY may disappear.
var statusNarrow = []narrowed{{2, 0}, {3, 0}, {1, 8}, {0, 8}}

// trouble writes the second block of a target, and why anything is missing.
func (s *Screen) trouble(st *Status) error {
	lines := st.lines()
	if len(lines) > 0 {
		if err := s.write(s.Out, "\n"+s.cut(s.Visible(st.Target))+"\n"); err != nil {
			return err
		}
	}
	for _, line := range lines {
		if err := s.item(line); err != nil {
			return err
		}
	}
	if st.Error != "" {
		s.Remark("%s: %s", st.Target, st.Error)
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
	if _, err := (*conn).Exec(ctx, "SET lock_timeout = '"+lockPatience+"'"); err != nil {
		return err
	}
	b, err := admit(ctx, *conn, t, rows.Reads)
	if b == nil {
		return err
	}
	if err != nil { // not admitted
		_ = b.look(ctx, func() error { return b.controllers(ctx, st) })
		return err
	}
	var said []string
	for _, part := range []func(context.Context, *Status) error{b.controllers, b.registered, b.pausedGroups, b.open, b.failed, b.jobs, b.untold} {
		err := b.look(ctx, func() error { return part(ctx, st) })
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			return err
		}
		if fault.Has(err, "55P03") {
			return b.locked(ctx, err)
		}
		if text := err.Error(); !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	if st.Copy, err = b.copied(ctx); err != nil { // in no transaction: it goes on after a refusal of the server
		said = append(said, err.Error())
	}
	if said != nil {
		return errors.New(strings.Join(said, "; "))
	}
	return nil
}

// locked says who has locked the table.
func (b *table) locked(ctx context.Context, err error) error {
	var why string
	if other := b.look(ctx, func() (err error) { why, err = b.Why(ctx, 0); return err }); other != nil || !strings.Contains(why, "locked the table") {
		return err
	}
	return fmt.Errorf("it cannot be read now: it %s", why)
}

func server(t work.Target) string {
	return strings.Join([]string{t.Connect["host"], t.Connect["hostaddr"], t.Connect["port"], t.Connect["service"]}, "\x00")
}

// open counts due tasks, and finds the one that has waited longest, and why it waits.
func (b *table) open(ctx context.Context, st *Status) error {
	var tasks Tasks
	var oldest Waiting
	err := b.conn.QueryRow(ctx, b.queries.Text("open"), lookedAt).
		Scan(&tasks.Ready, &tasks.Running, &tasks.More, &tasks.Oldest, &tasks.Waits, &oldest.ID, &oldest.Group)
	if err != nil {
		return err
	}
	if tasks.Oldest != "" {
		tasks.Oldest, st.Oldest = human.ISO(tasks.Oldest), &oldest
	}
	st.Tasks = &tasks
	if st.Oldest == nil {
		return nil
	}
	why, err := b.Why(ctx, oldest.ID)
	oldest.Why = human.Masked(why)
	return err
}

// failed counts tasks that have failed.
func (b *table) failed(ctx context.Context, st *Status) error {
	var failed Failed
	err := b.conn.QueryRow(ctx, b.queries.Text("failed"), lookedAt).Scan(&failed.Count, &failed.More)
	if err == nil {
		st.Failed = &failed
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
