package judge

import (
	"context"
	"errors"
	"strings"
	"time"

	"pgtaskd/exec"
	"pgtaskd/human"
	"pgtaskd/work/hold"
	"pgtaskd/work/run"
)

// Away finds out how transactions on remotes have ended, by asking these: a goroutine for each
// remote that is to be asked. All else belongs to the loop's goroutine. It outlasts terms, but what
// it knows does not.
type Away struct {
	*cutter
	asked    map[string]*inquiry // by remote and role
	verdicts map[int64]verdict   // by task id
}

// inquiry is what we know about asking one remote.
type inquiry struct {
	busy    bool         // a goroutine asks it
	backoff hold.Backoff // before it is asked again
	failed  bool         // it could not be asked; the log says so
}

// prepared is a row that is prepared with a transaction on its remote.
type prepared struct {
	id     int64
	remote string
	role   run.Role
	xact   int64
	place  string
	since  time.Time
}

// verdict says how the transaction of a row has ended.
type verdict struct {
	xact   int64
	status exec.Status // Committed, Aborted, or untold
	reason string      // why it is unknown
}

// untold is the status of a transaction of which nobody can tell any more how it has ended.
const untold exec.Status = "unknown"

// expires is how long the judge asks a remote before it gives up.
const expires = 24 * time.Hour

const elsewhere = "Another server, or another database, is now in the place of its remote."

// judgeAt decides how a transaction of place has ended. The remote says that its own place is now
// at ("": it is a standby), and the status. ok is false if it must be asked again later.
func judgeAt(place, at string, status exec.Status) (v verdict, ok bool) {
	server, timeline := cutPlace(place)
	nowServer, nowTimeline := cutPlace(at)
	switch same := server == nowServer; {
	case at == "", status == exec.InProgress, same && nowTimeline < timeline: // a standby, or a primary of before
		return v, false
	case !same:
		v = verdict{status: untold, reason: elsewhere}
	case status == exec.Aborted, status == exec.Future:
		v = verdict{status: exec.Aborted}
	case status == exec.Forgotten:
		v = verdict{status: untold, reason: "Its remote has no record any more of the transaction with which its row was prepared."}
	case nowTimeline != timeline:
		v = verdict{status: untold, reason: "Its remote has failed over to a standby since. A transaction with the same number is committed there, which may be another one."}
	default:
		v = verdict{status: exec.Committed}
	}
	return v, true
}

// cutPlace separates server and database from the timeline, in hexadecimal digits.
func cutPlace(place string) (server, timeline string) {
	i := max(strings.LastIndexByte(place, '/'), 0)
	return place[:i], strings.TrimPrefix(place[i:], "/")
}

// split takes out the tasks that must wait until their remote has told how they have ended. It asks
// the remotes that it has not asked yet.
func (a *Away) split(ctx context.Context, ids []int64) (ready, waiting []int64, err error) {
	rows, err := a.rows(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	remotes := map[string][]prepared{}
	for _, id := range ids {
		row, away := rows[id]
		key := row.remote + "\x00" + row.role.Name
		switch v, q := a.verdicts[id], a.asked[key]; {
		case !away, v.xact == row.xact:
			ready = append(ready, id)
		case row.remote == "":
			a.verdicts[id] = verdict{row.xact, untold, elsewhere}
			ready = append(ready, id)
		case q != nil && q.failed && a.Runs.Clock.Now().Sub(row.since) >= expires:
			a.verdicts[id] = verdict{row.xact, untold, "Its remote could not be asked for " + human.Duration(expires) + "."}
			ready = append(ready, id)
		default:
			remotes[key] = append(remotes[key], row)
			waiting = append(waiting, id)
		}
	}
	for key, rows := range remotes {
		a.ask(ctx, key, rows)
	}
	return ready, waiting, nil
}

// rows returns those of the tasks that are prepared on a remote.
func (a *Away) rows(ctx context.Context, ids []int64) (map[int64]prepared, error) {
	rows, p := map[int64]prepared{}, prepared{}
	err := a.Control.Each(ctx, "away", []any{ids},
		[]any{&p.id, &p.remote, &p.xact, &p.place, &p.since, &p.role.Name, &p.role.Superuser}, func() error {
			rows[p.id] = p
			return nil
		})
	return rows, err
}

// ask asks a remote about these rows, unless it is being asked, or must be left alone for a while.
func (a *Away) ask(ctx context.Context, key string, rows []prepared) {
	q := a.asked[key]
	if q == nil {
		q = &inquiry{}
		a.asked[key] = q
	}
	if q.busy || time.Now().Before(q.backoff.After) {
		return
	}
	q.busy = true
	a.Runs.Group.Go(func() {
		verdicts, err := a.hear(a.Runs.Group.Context(), rows)
		a.Later(func() {
			q.busy = false
			for id, v := range verdicts {
				a.verdicts[id] = v
			}
			a.heard(q, len(verdicts) == len(rows), rows[0].id, err)
		})
	})
}

// heard decides when to ask the remote again.
func (a *Away) heard(q *inquiry, all bool, id int64, err error) {
	switch {
	case err == nil && q.failed:
		a.Log.Info().Int64("id", id).Msg("a remote can be asked again how its runs have ended")
	case err != nil && !q.failed:
		a.Log.Warn().Err(err).Int64("id", id).Msg("cannot ask a remote how a run has ended; its lane waits")
	}
	if q.failed = err != nil; all {
		q.backoff = hold.Backoff{}
	} else {
		q.backoff.Later(hold.Untold)
	}
}

// hear asks a remote how these transactions have ended. It returns what it could find out.
func (a *Away) hear(ctx context.Context, rows []prepared) (map[int64]verdict, error) {
	var xacts []int64
	for _, row := range rows {
		xacts = append(xacts, row.xact)
	}
	at, statuses, err := a.Runs.Pool.Fences.Ask(ctx, rows[0].remote, rows[0].role, xacts)
	if err != nil {
		return nil, err
	}
	verdicts := map[int64]verdict{}
	for i, row := range rows {
		if v, ok := judgeAt(row.place, at, statuses[i]); ok {
			v.xact = row.xact
			verdicts[row.id] = v
		} else if at == "" || statuses[i] != exec.InProgress {
			err = errBehind
		}
	}
	return verdicts, err
}

var errBehind = errors.New("it is a standby, or the primary of before a failover")

// columns returns the verdicts in the form that cut.sql takes.
func (a *Away) columns(ids []int64) (xacts []int64, statuses []string, reasons []*string) {
	for _, id := range ids {
		v := a.verdicts[id]
		xacts, statuses, reasons = append(xacts, v.xact), append(statuses, string(v.status)), append(reasons, nil)
		if v.reason != "" {
			reasons[len(reasons)-1] = &v.reason
		}
	}
	return xacts, statuses, reasons
}
