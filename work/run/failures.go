package run

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
	"pgtaskd/remote"
	"pgtaskd/routine"
	"pgtaskd/work/pool"
)

// InTheWay tells an error that is no fault of the task's, unless its SQL has raised it: another
// transaction was in the way of its end.
func InTheWay(f *exec.Failure) bool {
	return f != nil && (f.SQLState == "40001" || f.SQLState == "40P01" || f.SQLState == "55P03" || f.KeyWaits())
}

// refusesForGood tells that a trigger or a policy of the table has refused an end: another run
// would meet it as well. That the role lacks a right to the table itself is told by the server's
// routine.
func refusesForGood(f *exec.Failure) bool {
	if f == nil {
		return false
	}
	switch f.SQLState {
	case "42501":
		return !f.Direct("42501", "aclcheck_error") && !f.Tokenless()
	case "42P01", "42703", "3F000":
		return f.Indirect() && !f.Tokenless()
	}
	return false
}

// Refusal is what a task's row shows when it did not take its own end.
func Refusal(f *exec.Failure) *exec.Failure {
	if f == nil || f.Missed() {
		return exec.NewFailure("task was changed while it ran", "55000",
			"DETAIL", "Its own SQL, or a trigger or policy of the table, has changed its row so that its end could not be written; its effects are rolled back.")
	}
	switch {
	case f.GivenAway():
		return givenAway()
	case f.KeyWaits():
		return exec.NewFailure("another task has come to wait with the key of the repetition", "40001")
	case f.LeftOut():
		return NotRepeated()
	case f.Taken() != nil && f.Taken().Many:
		return exec.NewFailure("the repetition of the task could not be made: very many ids that come next are taken", "55000",
			"DETAIL", "Somebody has inserted rows with ids of their own; the effects of the task are rolled back where they can be.")
	case f.Exhausted():
		return unfollowed(f, "It takes an id from the sequence",
			"Raise the sequence's MAXVALUE, or set it back: ALTER SEQUENCE … RESTART …. The repetition is made then.")
	case f.NoPartition():
		return unfollowed(f, "The table has no partition for its row", "Make that partition. The repetition is made then.")
	}
	return &exec.Failure{Text: f.Text, SQLState: f.SQLState}
}

// unfollowed is the error of a task whose repetition lacks something in the table: why, and what to
// do.
func unfollowed(f *exec.Failure, why, hint string) *exec.Failure {
	says, _, _ := strings.Cut(strings.TrimPrefix(f.Text, "ERROR:  "+UnwrittenEnd), "\n")
	return exec.NewFailure("the repetition of the task could not be made: "+says, f.SQLState,
		"DETAIL", why+"; the effects of the task are rolled back where they can be.", "HINT", hint)
}

// UnwrittenEnd is how exec begins the error of an end that was refused.
const UnwrittenEnd = "the end of the task could not be written: "

// NotRepeated is the error of a task whose repetition has not come about.
func NotRepeated() *exec.Failure {
	return exec.NewFailure("the repetition of the task was left out", "55000",
		"DETAIL", "A trigger or policy of the table has left its row out; the effects of the task are rolled back.")
}

// lostFailure is the error of a session that is gone.
func lostFailure(err error, t *Task) *exec.Failure {
	var gone *exec.Lost
	if errors.As(err, &gone) && gone.Fatal != nil {
		return gone.Failure(*t.Row.Input)
	}
	if broken(err) {
		return exec.NewFailure("the server has broken the protocol while the task ran", "08P01", "DETAIL",
			gone.Cause.Error(), "STATEMENT", *t.Row.Input)
	}
	return exec.NewFailure("the connection was lost while the task ran", "08006", "STATEMENT", *t.Row.Input)
}

// broken tells the loss of a session whose server does not keep to the protocol from that of a
// connection.
func broken(err error) bool {
	var gone *exec.Lost
	return errors.As(err, &gone) && gone.Broken
}

// Stored is a text as the database can store it; nil stays nil.
func Stored(text *string, encoding string) *string {
	if text == nil || encoding == "UTF8" {
		return text
	}
	s := exec.Stored(*text, encoding)
	return &s
}

// unreachableAfter is how long after the first try a role that is no superuser learns, at the
// earliest, that no server has answered: what this machine refuses by itself takes no time, and
// what others do hardly any.
const unreachableAfter = time.Second

// readLog is the hint where only the administrator may know more.
const readLog = "The log of pgtaskd says why, at level debug."

// loginHints say what lets a role log in.
var loginHints = map[string]string{
	"28000": "pg_hba.conf must let the role in from where pgtaskd runs, and ALTER ROLE … LOGIN.",
	"28P01": "Its password_file or password_command in the configuration, or the password file of libpq, must have its password.",
	"42501": "GRANT CONNECT ON DATABASE … TO the role.",
	"53300": "Raise max_connections, or the CONNECTION LIMIT of the role or the database.",
}

// unreachable is what a task's row shows when its session could not be opened. What a server
// answers is shown to all; what we see ourselves, to a superuser alone: a remote can name any path
// and port of our machine.
func (r *runner) unreachable(ctx context.Context, t *Task, began time.Time, err error) *exec.Failure {
	r.Log.Debug().Err(err).Int64("id", t.Row.ID).Bool("remote", t.Row.Remote != "").Msg("cannot open a session")
	var refused *remote.Refused
	var answer *pgconn.PgError
	var panicked *routine.Panic
	var costly *exec.Costly
	superuser := r.Server.Load().Superuser
	if t.Row.Role.Name != "" {
		superuser = t.Row.Role.Superuser
	}
	switch {
	case errors.As(err, &panicked):
		return internal()
	case t.Row.Role.Name != "" && t.Row.Remote == "" && errors.As(err, &answer):
		return exec.NewFailure("pgtaskd cannot log in as role "+strconv.Quote(t.Row.Role.Name), answer.Code, "DETAIL",
			answer.Message, "HINT", loginHints[answer.Code])
	case errors.As(err, &costly): // the server has said that
		return exec.NewFailure("could not establish connection", "08001", "DETAIL", costly.Error())
	case errors.As(err, new(*pool.PutOff)):
		return exec.NewFailure("pgtaskd cannot log in as role "+strconv.Quote(t.Row.Role.Name), "08001", "DETAIL",
			"Logins of the role take long, so few of them are made at once, and this one has to wait.", "HINT",
			"Where its password takes many iterations of SCRAM, lower scram_iterations and set it again; else look into how the server authenticates the role, and what it does at a login.")
	case errors.As(err, &refused) && superuser:
		detail := refused.Detail
		if detail == "" {
			detail = refused.Private
		}
		return exec.NewFailure(refused.Message, refused.SQLState, "DETAIL", detail, "HINT", refused.Hint)
	case errors.As(err, &refused):
		hint := refused.Hint
		if hint == "" && refused.Private != "" {
			hint = readLog
		}
		return exec.NewFailure(refused.Message, refused.SQLState, "DETAIL", refused.Detail, "HINT", hint)
	case errors.As(err, &answer):
		return exec.NewFailure("could not establish connection", answer.Code, "DETAIL", answer.Message, "HINT", answer.Hint)
	case superuser || remote.Unsuited(err):
		return exec.NewFailure("could not establish connection", "08001", "DETAIL", remote.Innermost(err))
	}
	if t.Row.Remote != "" {
		select {
		case <-time.After(time.Until(began.Add(unreachableAfter))):
		case <-ctx.Done():
		}
	}
	return exec.NewFailure("could not establish connection", "08001", "HINT", readLog)
}
