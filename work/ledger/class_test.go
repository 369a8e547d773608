package ledger

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
)

// The results of TestWhatAnErrorMeans: how the queue handles a preparation that meets an error.
const (
	looked     = "somebody is to look who has the lock"
	conflicts  = "it is tried for some time"
	passes     = "it is tried for as long as it takes"
	bare       = "it is tried without its texts"
	unanswered = "nobody knows"
)

// meant returns how the queue handles an error of a preparation that waits without limit.
func meant(err error) string {
	if fault.Of(err) == fault.Lost {
		return unanswered
	}
	q, got := &Queue{}, told{}
	got.put(q, Entry{Kind: Prepare, Output: text(1), Patient: true})
	round := q.Next(epoch)
	round[0].since = epoch
	switch look := q.Failed(round, err, epoch.Add(lockedMost)); {
	case len(look) > 0:
		return looked
	case len(got) > 0:
		return conflicts
	case round[0].bare != nil:
		return bare
	}
	return passes
}

func TestWhatAnErrorMeans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  pgconn.PgError
		want string
	}{
		{pgconn.PgError{Code: "55P03", Routine: "ProcessInterrupts"}, looked},
		{pgconn.PgError{Code: "55P03", Where: "a trigger"}, looked},
		{pgconn.PgError{Code: "40001"}, conflicts},
		{pgconn.PgError{Code: "40P01", Routine: "DeadLockReport"}, conflicts},
		{pgconn.PgError{Code: "40P01", Where: "a trigger"}, conflicts},
		{pgconn.PgError{Code: "57014", Where: "a trigger"}, passes},
		{pgconn.PgError{Code: "25006"}, passes},
		{pgconn.PgError{Code: "53100"}, passes},
		{pgconn.PgError{Code: "53400", Where: "a trigger"}, passes},
		{pgconn.PgError{Code: fault.QueueFullCode, Routine: fault.QueueFullRoutine}, passes},
		{pgconn.PgError{Code: "54000"}, bare},
		{pgconn.PgError{Code: "0A000", Routine: "RevalidateCachedQuery"}, passes},
		{pgconn.PgError{Code: "23505"}, bare},
		{pgconn.PgError{Code: "42P01"}, bare},
	} {
		c.err.Severity = "ERROR"
		if got := meant(&c.err); got != c.want {
			t.Errorf("%s %s: %s", c.err.Code, c.err.Where, got)
		}
		c.err.Severity = "FATAL"
		if meant(&c.err) != unanswered {
			t.Error(c.err.Code, "leaves the connection")
		}
	}
	if meant(errors.New("the connection is lost")) != unanswered {
		t.Error("a lost connection is an answer")
	}
}
