package run

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
	"pgtaskd/exec/bound"
	"pgtaskd/exec/text"
	"pgtaskd/remote"
	"pgtaskd/routine"
)

// InTheWay tells an error that is no fault of the task's, unless its SQL has raised it: another
// transaction was in the way.
func InTheWay(f *text.Failure) bool {
	return f != nil && (f.SQLState == "40001" || f.SQLState == "40P01" || f.SQLState == "55P03")
}

// lostFailure is the error of a session that is gone.
func lostFailure(err error, t *Task) *text.Failure {
	var gone *exec.Lost
	if errors.As(err, &gone) && gone.Fatal != nil {
		return gone.Failure(*t.Row.Input)
	}
	if broken(err) {
		return text.NewFailure("the server has broken the protocol while the task ran", "08P01", "DETAIL",
			gone.Cause.Error(), "STATEMENT", *t.Row.Input)
	}
	return text.NewFailure("the connection was lost while the task ran", "08006", "STATEMENT", *t.Row.Input)
}

// broken tells the loss of a session whose server does not keep to the protocol from that of a
// connection.
func broken(err error) bool {
	var gone *exec.Lost
	return errors.As(err, &gone) && gone.Broken
}

// unreachableAfter is how long after the first try a role that is no superuser learns, at the
// earliest, that no server has answered: what this machine refuses by itself takes no time, and
// what others do hardly any.
const unreachableAfter = time.Second

// readLog is the hint where only the administrator may know more.
const readLog = "The log of pgtaskd says why, at level debug."

// loginHints say what lets a role log in.
var loginHints = map[string]string{
	"28000": "pg_hba.conf must let the role in from where pgtaskd runs, and ALTER ROLE ... LOGIN.",
	"28P01": "Its password_file or password_command in the configuration, or the password file of libpq, must have its password.",
	"42501": "GRANT CONNECT ON DATABASE ... TO the role.",
	"53300": "Raise max_connections, or the CONNECTION LIMIT of the role or the database.",
}

// unreachable is what a task's row shows when its session could not be opened. What a server
// answers is shown to all; what we see ourselves, to a superuser alone: a remote can name any path
// and port of our machine.
func (r *runner) unreachable(ctx context.Context, t *Task, began time.Time, err error) *text.Failure {
	r.Log.Debug().Err(err).Int64("id", t.Row.ID).Bool("remote", t.Row.Remote != "").Msg("cannot open a session")
	var refused *remote.Refused
	var answer *pgconn.PgError
	var panicked *routine.Panic
	var costly *bound.Costly
	superuser := r.Server.Load().Superuser
	if t.Row.Role.Name != "" {
		superuser = t.Row.Role.Superuser
	}
	switch {
	case errors.As(err, &panicked): // it says nothing of ourselves
		r.Failed(err).Int64("id", t.Row.ID).Msg("internal error while opening a session for a task")
		return text.NewFailure("the task could not be run", "XX000", "DETAIL",
			"pgtaskd met an internal error; its log has the details.")
	case t.Row.Role.Name != "" && t.Row.Remote == "" && errors.As(err, &answer):
		return text.NewFailure("pgtaskd cannot log in as role "+strconv.Quote(t.Row.Role.Name), answer.Code, "DETAIL",
			answer.Message, "HINT", loginHints[answer.Code])
	case errors.As(err, &costly): // the server has said that
		return text.NewFailure("could not establish connection", "08001", "DETAIL", costly.Error())
	case errors.As(err, &refused):
		detail, hint := refused.Detail, refused.Hint
		if superuser {
			detail = cmp.Or(detail, refused.Private)
		} else if refused.Private != "" {
			hint = cmp.Or(hint, readLog)
		}
		return text.NewFailure(refused.Message, refused.SQLState, "DETAIL", detail, "HINT", hint)
	case errors.As(err, &answer):
		return text.NewFailure("could not establish connection", answer.Code, "DETAIL", answer.Message, "HINT", answer.Hint)
	case superuser || remote.Unsuited(err):
		return text.NewFailure("could not establish connection", "08001", "DETAIL", remote.Innermost(err))
	}
	if t.Row.Remote != "" {
		select {
		case <-time.After(time.Until(began.Add(unreachableAfter))):
		case <-ctx.Done():
		}
	}
	return text.NewFailure("could not establish connection", "08001", "HINT", readLog)
}
