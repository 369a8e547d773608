package rows

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/sql/lock"
)

const (
	pausesMost = 20     // rows in a Head
	jobsMost   = 1000   // jobs among which it counts the paused ones
	countsMost = 10_000 // due tasks among which it counts those that wait and run
	failedMost = 1000   // newest tasks among which it counts those that failed
)

// Head says how a target is led and what is paused.
type Head struct {
	Target     string
	Zone       string // of the target; "": not known
	Leader     string // host and process id, or the process id of its session; "": nobody leads, or nobody can tell
	Since      pgtype.Timestamptz
	Version    string             // of the leader
	Here       string             // how this controller serves the target: "leads", "stands by" or ""
	Fault      string             // why this controller neither leads nor stands by
	LastFault  string             // the fault before
	FaultAt    pgtype.Timestamptz // by this controller's clock
	Unread     string             // why the table cannot be read; "": it can
	Paused     []Pause
	MorePaused bool  // more rows pause groups
	PausedJobs int64 // of the first 1000 jobs with cron or repeat
	Waiting    int64 // due
	Running    int64
	Beyond     bool               // there are more than 10,000 due tasks
	Failed     int64              // FAIL among the newest 1000 tasks
	At         pgtype.Timestamptz // when the table was read, by the server's clock
}

// Pause is a row of the table of groups that pauses tasks.
type Pause struct {
	Group string
	Until pgtype.Timestamptz
	Note  *string
	By    *string `db:"changed_by"`
}

// head reads into h how the table is led and what is paused.
func (b *Table) head(ctx context.Context, h *Head) error {
	h.Zone = b.Zone
	holder, err := lock.Leadership(b.Name, false).Holder(ctx, b.conn)
	if err != nil {
		return slow(err)
	}
	if holder != nil {
		h.Leader = fmt.Sprint("session pid ", holder.PID)
	}
	if err := b.conn.QueryRow(ctx, b.queries.Text("now"), jobsMost).Scan(&h.At, &h.PausedJobs); err != nil {
		return slow(err)
	}
	if err := b.conn.QueryRow(ctx, b.queries.Text("counts"), countsMost, failedMost).Scan(&h.Waiting, &h.Running, &h.Failed); err != nil {
		return slow(err)
	}
	h.Beyond = h.Waiting+h.Running >= countsMost
	if holder != nil && b.Has("leader") {
		if err := b.registered(ctx, h); err != nil {
			return err
		}
	}
	if b.Has("group") {
		h.Paused, err = list[Pause](ctx, b, "paused", pausesMost+1)
		if h.MorePaused = len(h.Paused) > pausesMost; h.MorePaused {
			h.Paused = h.Paused[:pausesMost]
		}
	}
	return err
}

// registered adds what the leader has written about itself.
func (b *Table) registered(ctx context.Context, h *Head) error {
	found, err := list[struct {
		Host    *string
		PID     *int32
		Version *string
		Since   pgtype.Timestamptz
	}](ctx, b, "leader")
	if err != nil || len(found) == 0 {
		return err
	}
	l := found[0]
	if l.Host != nil && l.PID != nil {
		h.Leader = fmt.Sprintf("%s process %d", *l.Host, *l.PID)
	}
	if l.Version != nil {
		h.Version = *l.Version
	}
	h.Since = l.Since
	return nil
}

// stamp turns a time of this machine into a column's value.
func stamp(at time.Time) pgtype.Timestamptz { return pgtype.Timestamptz{Time: at, Valid: !at.IsZero()} }
