package work

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
)

// A task whose end could not be written is run again, so often before it FAILs. Where another transaction was in the way (40001, 40P01, 55P03) that is after a random
// moment, and from crossedAlone times on while nothing else starts.
const (
	tries        = 5
	crossedTries = 10
	crossedAlone = 3
)

// again is how often a task had to be run again for reasons of our own.
type again struct {
	runs    int
	crossed int // of those, because another transaction was in the way of its end
}

// crosses counts another such run, and says how long it is to wait: others that met it wait as well, and not for as long.
func (a again) crosses() (again, time.Duration) {
	a.runs, a.crossed = a.runs+1, a.crossed+1
	return a, rand.N(5 * time.Millisecond << min(a.crossed, 7))
}

func (a again) anotherRun() again {
	a.runs++
	return a
}

// longWait is the wait before the last try to write an end that SQL of a trigger refuses with an error which another transaction may be the
// cause of. (Where there is no trigger in it, it passes some day.)
const longWait = time.Second

// writeEach writes ends together, and where the table refuses them, one by one, so that one odd row holds up no other. A row that takes
// no end at all is given up: it is reported, and stays as it is.
func (l *loop) writeEach(ctx context.Context, ends []end, write func(context.Context, []end) error) error {
	err := write(ctx, ends)
	if err == nil || !refusedByServer(err) {
		return err
	}
	if l.trust(ctx, err) {
		return l.writeEach(ctx, ends, write)
	}
	if len(ends) > 1 {
		half := len(ends) / 2
		if err := l.writeEach(ctx, ends[:half], write); err != nil {
			return err
		}
		return l.writeEach(ctx, ends[half:], write)
	}
	e := ends[0]
	var answer *pgconn.PgError
	errors.As(err, &answer)
	switch {
	case passing(answer) && (answer.Where == "" || e.wait < longWait):
		e.later()
		l.unsaid = append(l.unsaid, e)
		return nil
	case isKeyTaken(answer):
		l.gone(e)
		return l.supersede(ctx, e.task.row.ID, e.task.row.Version, e.pid, e.failure())
	case e.lessen(err):
		return l.writeEach(ctx, []end{e}, write)
	}
	l.leaveAlone(e, err)
	return nil
}

// leftOut tells the error by which repeat.sql says that a repetition has not come about, keyWaits the one by which it says that another task has come to wait with its key.
func leftOut(answer *pgconn.PgError) bool { return dividedBy(answer, "cash_div_int") }

func keyWaits(answer *pgconn.PgError) bool { return dividedBy(answer, "int28div") }

var errKept = errors.New("a trigger of the table keeps the row as it is")

// isUnmoved tells the error by which a statement says that a trigger has kept the state of a row as it was.
func isUnmoved(answer *pgconn.PgError) bool { return dividedBy(answer, "int84div") }

func dividedBy(answer *pgconn.PgError, routine string) bool {
	return answer.Code == "22012" && strings.HasPrefix(answer.Routine, routine) && answer.Where == ""
}

// each does something to ids together, and where the table refuses that, one by one.
func (l *loop) each(ctx context.Context, ids []int64, do func(context.Context, []int64) error) error {
	bounded, cancel := limited(ctx)
	err := do(bounded, ids)
	cancel()
	if err == nil || !refusedByServer(err) {
		return err
	}
	if l.trust(ctx, err) {
		return l.each(ctx, ids, do)
	}
	if answer := new(pgconn.PgError); errors.As(err, &answer) && passing(answer) {
		return nil // it is tried again
	}
	if len(ids) == 1 {
		if answer := new(pgconn.PgError); errors.As(err, &answer) && isKeyTaken(answer) {
			return l.supersede(ctx, ids[0], 0, 0, nil)
		}
		l.log.Error().Err(err).Int64("id", ids[0]).Msg("table refuses a change of a task; row left unchanged")
		l.hopeless[ids[0]] = time.Now()
		return nil
	}
	half := len(ids) / 2
	if err := l.each(ctx, ids[:half], do); err != nil {
		return err
	}
	return l.each(ctx, ids[half:], do)
}

// eachWithWords is each, for what writes words of ours into the rows: one that refuses them is
// changed without.
func (l *loop) eachWithWords(ctx context.Context, ids []int64, do func(ctx context.Context, ids []int64, mute bool) error) error {
	return l.each(ctx, ids, func(ctx context.Context, ids []int64) error {
		err := do(ctx, ids, false)
		if answer := new(pgconn.PgError); len(ids) == 1 && refusedByServer(err) && errors.As(err, &answer) && !passing(answer) && !isKeyTaken(answer) {
			return do(ctx, ids, true)
		}
		return err
	})
}

// refusedByServer tells an answer of a server that goes on from the loss of the connection. What is wrong with the table as a whole, such
// as a missing right, is not a matter of rows: it ends the leadership.
func refusedByServer(err error) bool {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) || answer.Severity == "FATAL" || answer.Severity == "PANIC" {
		return false
	}
	switch answer.Code {
	case "42501":
		return answer.Where != "" || answer.Routine != "aclcheck_error" // a policy's word, or a trigger's, and may be that of one row only
	case "42P01", "42703", "42704":
		return answer.Where != "" // likewise
	case "53100", "53200":
		return raisedBySQL(answer) // a full disk meets what a trigger does as well
	case "25006", "57014", "57P01", "57P02", "57P03":
		return answer.Where != "" // SQL can raise any code, and what is too slow for one row is a matter of that row
	}
	return true
}

// raisedBySQL tells an error that SQL has raised from one of the server's own.
func raisedBySQL(answer *pgconn.PgError) bool { return answer.Routine == "exec_stmt_raise" }

// trust gives our statements the role's own search_path once a trigger of the user's has turned out to need it, as it names things that it does
// not qualify: until then the path is empty, so that nothing can come between our statements and what they mean.
func (l *loop) trust(ctx context.Context, err error) (trusted bool) {
	var answer *pgconn.PgError
	switch {
	case l.path.Load() != nil:
		return false
	case errors.As(err, &answer) && answer.Where != "" && pathless(answer.Code):
	default:
		return false
	}
	l.log.Warn().Err(err).Msg("a trigger needs the role's search_path; using it from now on")
	if l.control.trust(ctx, l.target) != nil {
		return false // the server has no room for a session, or the connection is lost: the next refusal tries again
	}
	l.path.Store(&l.control.path)
	return true
}

// pathless tells the errors of a name that search_path does not lead to.
func pathless(code string) bool {
	switch code {
	case "42P01", "42883", "42704", "3F000":
		return true
	}
	return false
}

// isHopeless tells that a row has refused us of late. It is tried again after a minute, as what refuses may have been mended.
func (l *loop) isHopeless(id int64) bool {
	since, known := l.hopeless[id]
	if known && time.Since(since) > time.Minute {
		delete(l.hopeless, id)
		return false
	}
	return known
}

// passing tells an error that another transaction is the cause of.
func passing(answer *pgconn.PgError) bool {
	return answer.Code == "40001" || answer.Code == "40P01" || answer.Code == "55P03" || keyWaits(answer) || outdated(answer)
}

// outdated tells the error of a statement of ours that was prepared before the type of a column was altered; the next time it is prepared again.
func outdated(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == "0A000" && answer.Routine == "RevalidateCachedQuery" && answer.Where == ""
}

// isKeyTaken tells that a task cannot wait again because another one with its key does.
func isKeyTaken(answer *pgconn.PgError) bool {
	return answer.Code == "23505" && strings.HasPrefix(answer.ConstraintName, "pgtaskd_wait_key")
}

// supersede ends a task whose key another one waits for.
func (l *loop) supersede(ctx context.Context, id int64, version uint32, pid int32, failure *exec.Failure) error {
	var text *string
	if failure != nil {
		text = stored(&failure.Text, l.encoding())
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	var err error
	for _, words := range []struct {
		text *string
		mute bool
	}{{text, false}, {nil, false}, {nil, true}} {
		var some []changed
		err = pgx.BeginFunc(ctx, l.control.conn, func(tx pgx.Tx) (err error) {
			some, err = l.withWhatFollows(ctx, tx, l.queries().Text("superseded"), id, int32(version), pid, words.text, words.mute)
			return err
		})
		if err == nil {
			l.counted(some)
			l.stats.skips(skippedSuperseded, len(some))
		}
		if !refusedByServer(err) {
			break
		}
	}
	if refusedByServer(err) {
		l.log.Error().Err(err).Int64("id", id).Msg("table refuses every end of a task; row left unchanged")
		l.hopeless[id] = time.Now()
		return nil
	}
	return err
}

// refusedSilently is the end that a row has not taken though nobody has it locked and no error came: a trigger of the user's leaves it out.
func (l *loop) refusedSilently(e end) {
	if e.lessen(nil) {
		l.unsaid = append(l.unsaid, e)
		l.inbox.wake()
		return
	}
	l.leaveAlone(e, nil)
}

// refused finds out why rows did not take the ends of their tasks, whose effects are rolled back.
func (l *loop) refused(ctx context.Context, ends []end) error {
	ids := make([]int64, len(ends))
	for i, e := range ends {
		ids[i] = e.task.row.ID
	}
	standings, err := l.standings(ctx, ids)
	if err != nil {
		return err
	}
	for _, e := range ends {
		id := e.task.row.ID
		switch s := standings[id]; {
		case s.stopping:
			e.kind = stopped
		case !s.ours(e.task, e.pid):
			if s.state == "PLAN" { // somebody changes it, and may again: the next run is marked before it starts
				l.begun[id] = l.begun[id].anotherRun()
			}
			l.gone(e)
			l.look.wanted = true // it may wait again, or another row in its place
			continue
		case e.result == nil && e.fault == nil: // it has not begun
			e.kind = released
		case !e.task.once() && !e.task.row.Rerun, e.fault == nil:
			e.kind = finished
		case short(e.fault.SQLState): // as long as that lasts
			l.begun[id] = l.begun[id].anotherRun()
			e.kind, e.delay = released, min(time.Second<<min(l.begun[id].runs, 6), time.Minute)
		case inTheWay(e.fault) && l.begun[id].crossed < crossedTries-1:
			e.kind = released
			l.begun[id], e.delay = l.begun[id].crosses()
		case !inTheWay(e.fault) && (e.delay > 0 || ofTable(e.fault.SQLState)) && l.begun[id].runs < tries:
			l.begun[id] = l.begun[id].anotherRun()
			e.kind, e.delay = released, 0
		default:
			e.kind = finished
		}
		if e.kind == finished && e.fault == nil {
			e.fault = refusal(nil)
		}
		e.final = e.kind == finished && !inTheWay(e.fault) // the next try would be refused as well
		l.unsaid = append(l.unsaid, e)
	}
	l.inbox.wake()
	return nil
}

// short tells that the server had no room for the end of a task, or no time.
func short(code string) bool { return strings.HasPrefix(code, "53") }

// ofTable tells that there may be something wrong with the table as a whole: a right has been taken away, a column or the table dropped.
// If so the next look finds that out, and nothing runs until it is mended; else it is the row's, or a trigger's, fault.
func ofTable(code string) bool {
	switch code {
	case "25006", "42501", "42P01", "42703", "3F000":
		return true
	}
	return false
}
