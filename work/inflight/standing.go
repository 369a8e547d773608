package inflight

import (
	"context"

	"pgtaskd/work/control"
)

// Claim is what the row of a task of ours shows that nobody has changed.
type Claim struct {
	ID      int64
	Version uint32 // as it was read
	PID     int32  // of the session that it is marked for
	Xact    int64  // with which it is prepared, 0: it is not
}

// ClaimOf is what the row of a task shows that runs on the session.
func ClaimOf(t *Task, pid int32) Claim { return Claim{t.Row.ID, t.Row.Version, pid, t.Xact()} }

// Standing is what a row shows now.
type Standing struct {
	State    string // "": there is no such row
	Ours     bool   // it still shows what we have made of it
	Stopping bool   // set to STOP while it was under way, and without an end
	Recalls  bool   // it is prepared, and remembers a STOP
}

// UnderWay tells whether the row's task may run, on whatever session.
func (s Standing) UnderWay() bool { return s.State == "TAKE" || s.State == "WORK" || s.Stopping }

// Standings are what the rows show. Of several with one id, as a partitioned table may have, it is what
// the one shows that is ours, else one whose task may run.
func Standings(ctx context.Context, c *control.Control, claims []Claim) (map[int64]Standing, error) {
	all := make(map[int64]Standing, len(claims))
	if len(claims) == 0 {
		return all, nil
	}
	var ids, pids, versions, xacts []int64
	for _, one := range claims {
		ids, pids = append(ids, one.ID), append(pids, int64(one.PID))
		versions, xacts = append(versions, int64(int32(one.Version))), append(xacts, one.Xact)
	}
	var id int64
	var s Standing
	err := c.Each(ctx, "check", []any{ids, versions, pids, xacts}, []any{&id, &s.State, &s.Ours, &s.Stopping, &s.Recalls}, func() error {
		if other := all[id]; s.Ours || !other.Ours && (s.UnderWay() || !other.UnderWay()) {
			all[id] = s
		}
		return nil
	})
	return all, err
}
