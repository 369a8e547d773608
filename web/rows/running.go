package rows

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/human"
)

const (
	dueMost     = 100_000 // due tasks among which the running ones are looked for
	newestMost  = 10_000  // newest rows with which they are compared
	runningMost = 1000    // rows
	blockerMost = 200
)

// Running is a task that runs.
type Running struct {
	ID        int64              `json:"id" db:"id"`
	State     string             `json:"state" db:"state"` // STOP: it is being cancelled
	Group     string             `json:"group" db:"group"`
	Key       *string            `json:"key" db:"key"`
	Since     pgtype.Timestamptz `json:"since" db:"since"`
	Seconds   *float64           `json:"seconds" db:"seconds"`
	PID       *int32             `json:"pid" db:"pid"`
	Remote    bool               `json:"-" db:"remote"` // it has no session on this server
	WaitType  *string            `json:"wait_event_type" db:"wait_event_type"`
	WaitEvent *string            `json:"wait_event" db:"wait_event"`
	BlockedBy []int32            `json:"blocked_by" db:"blocked_by"` // pids; 0 is a prepared transaction
	Query     *string            `json:"query" db:"query"`
	Usual     *float64           `json:"usual_p95" db:"usual_p95"` // seconds
	Over      bool               `json:"over" db:"over"`           // it runs for longer than that
	More      bool               `json:"-" db:"more"`              // not all due tasks were looked at
	Blockers  []Blocker          `json:"-" db:"-"`
}

// Blocker is a session that blocks a task.
type Blocker struct {
	PID         int32
	Role        *string
	Application *string
	State       *string
	Seconds     *float64 // since its transaction began
	Query       *string
	Task        int64 `db:"-"` // the task that it runs; 0: none
}

// Running returns what runs, longest first, and who blocks it.
func (b *Table) Running(ctx context.Context, hidden Hidden) ([]Running, error) {
	if err := b.hashes(ctx); err != nil {
		return nil, err
	}
	found, err := list[Running](ctx, b, "running", dueMost, newestMost, hidden.Input, runningMost)
	if err != nil {
		return nil, err
	}
	if len(found) == runningMost {
		found[0].More = true
	}
	var pids []int32
	tasks := map[int32]int64{}
	for _, r := range found {
		mask(r.Query)
		if r.PID != nil && !r.Remote {
			tasks[*r.PID] = r.ID
		}
		pids = append(pids, r.BlockedBy...)
	}
	if len(pids) == 0 {
		return found, nil
	}
	slices.Sort(pids)
	pids = slices.Compact(pids)
	blockers, err := list[Blocker](ctx, b, "blockers", pids[:min(len(pids), blockerMost)], hidden.Input)
	if err != nil {
		return nil, err
	}
	known := map[int32]Blocker{}
	for _, s := range blockers {
		mask(s.Query)
		s.Task = tasks[s.PID]
		known[s.PID] = s
	}
	for i := range found {
		for _, pid := range found[i].BlockedBy {
			s := known[pid]
			s.PID = pid
			found[i].Blockers = append(found[i].Blockers, s)
		}
	}
	return found, nil
}

// hashes lets the statements of this transaction join by hashing, which sessions of ours do not do.
func (b *Table) hashes(ctx context.Context) error {
	_, err := b.conn.Exec(ctx, "SELECT set_config('enable_hashjoin', 'on', true)")
	return err
}

func mask(text *string) {
	if text != nil {
		*text = human.Masked(*text)
	}
}
