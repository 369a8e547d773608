package work

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
	"pgtaskd/sql"
	"pgtaskd/work/run"
)

// isKeyTaken tells that a task cannot wait again because another one with its key does.
func isKeyTaken(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == "23505" && sql.IsWaitKey(answer.ConstraintName)
}

// superseded ends a task that would wait again beside another one of its key. If that waits no
// more, it tries again.
func (l *loop) superseded(ctx context.Context, e end, refusal error) error {
	ended, err := l.supersede(ctx, e.task.Row.ID, e.task.Row.Version, e.PID, e.failure())
	switch {
	case err != nil && !passing(err):
		return err
	case ended:
		l.gone(e)
	case err != nil, e.wait < retryMost:
		e.later(retryMost)
		l.keep(e)
	default:
		l.leaveAlone(e, refusal)
	}
	return nil
}

// supersede ends a task whose key another one waits for. A row that refuses every end counts as
// ended.
func (l *loop) supersede(ctx context.Context, id int64, version uint32, pid int32, failure *exec.Failure) (ended bool, err error) {
	var text *string
	if failure != nil {
		text = run.Stored(&failure.Text, l.encoding())
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	for _, mute := range []bool{false, true} {
		var some []changed
		some, err = l.changeTasks(ctx, "superseded", id, int32(version), pid, text, mute)
		if ended = err == nil && len(some) > 0; ended {
			l.counted(some)
			l.stats.skips(skippedSuperseded, len(some))
		}
		if !refusedByServer(err) || passing(err) {
			return ended, err
		}
	}
	l.log.Error().Err(err).Int64("id", id).Msg("table refuses every end of a task; row left unchanged")
	l.refuses(id, refusesAgain)
	return true, nil
}
