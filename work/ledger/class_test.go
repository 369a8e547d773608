package ledger

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
)

func TestWhatAnErrorMeansForARound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  pgconn.PgError
		want Class
	}{
		{pgconn.PgError{Code: "55P03", Routine: "ProcessInterrupts"}, Blocked},
		{pgconn.PgError{Code: "55P03", Where: "a trigger"}, Blocked},
		{pgconn.PgError{Code: "40001"}, Conflicts},
		{pgconn.PgError{Code: "40P01", Routine: "DeadLockReport"}, Conflicts},
		{pgconn.PgError{Code: "40P01", Where: "a trigger"}, Conflicts},
		{pgconn.PgError{Code: "57014", Where: "a trigger"}, Passing},
		{pgconn.PgError{Code: "25006"}, Passing},
		{pgconn.PgError{Code: "53100"}, Passing},
		{pgconn.PgError{Code: "53400", Where: "a trigger"}, Passing},
		{pgconn.PgError{Code: fault.QueueFullCode, Routine: fault.QueueFullRoutine}, Passing},
		{pgconn.PgError{Code: "54000"}, Refuses},
		{pgconn.PgError{Code: "0A000", Routine: "RevalidateCachedQuery"}, Passing},
		{pgconn.PgError{Code: "23505"}, Refuses},
		{pgconn.PgError{Code: "42P01"}, Refuses},
	} {
		c.err.Severity = "ERROR"
		if class, ok := classOf(&c.err); class != c.want || !ok {
			t.Errorf("%s %s: %d, %v", c.err.Code, c.err.Where, class, ok)
		}
		c.err.Severity = "FATAL"
		if _, ok := classOf(&c.err); ok {
			t.Error(c.err.Code, "leaves the connection")
		}
	}
	if _, ok := classOf(errors.New("the connection is lost")); ok {
		t.Error("a lost connection is an answer")
	}
}
