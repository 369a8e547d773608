package fault

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestClasses: the class depends on the code, on the routine, and on whether our own statement or
// SQL below it has failed.
func TestClasses(t *testing.T) {
	t.Parallel()
	answer := func(code, routine, where string) error {
		return fmt.Errorf("wrapped: %w", &pgconn.PgError{Severity: "ERROR", Code: code, Routine: routine, Where: where})
	}
	const below = "PL/pgSQL function mine() line 1 at RAISE"
	for name, c := range map[string]struct {
		err  error
		want Class
	}{
		"none":                             {nil, None},
		"no answer":                        {context.DeadlineExceeded, Lost},
		"fatal":                            {&pgconn.PgError{Severity: "FATAL", Code: "57P01"}, Lost},
		"a right of ours":                  {answer("42501", "aclcheck_error", ""), Whole},
		"a right of a trigger's":           {answer("42501", "aclcheck_error", below), Row},
		"a policy":                         {answer("42501", "ExecWithCheckOptions", ""), Row},
		"a full disk":                      {answer("53100", "mdextend", below), Whole},
		"a full disk that SQL tells of":    {answer("53100", raised, below), Row},
		"our time limit":                   {answer("57014", "ProcessInterrupts", ""), Whole},
		"its time limit":                   {answer("57014", "ProcessInterrupts", below), Row},
		"a lock":                           {answer("55P03", "ProcessInterrupts", below), Locked},
		"a lock that SQL tells of":         {answer("55P03", raised, below), Crossed},
		"a deadlock":                       {answer("40P01", "DeadLockReport", ""), Deadlocked},
		"no ids":                           {answer("2200H", "nextval_internal", ""), NoIDs},
		"no ids of another sequence":       {answer("2200H", "nextval_internal", below), Row},
		"a statement that was prepared":    {answer("0A000", "RevalidateCachedQuery", ""), Outdated},
		"a full queue":                     {answer("54000", QueueFullRoutine, ""), QueueFull},
		"a character":                      {answer("22P05", "", below), Unsendable},
		"a constraint":                     {answer("23514", "ExecConstraints", ""), Row},
		"another task with its key":        {&pgconn.PgError{Severity: "ERROR", Code: "23505", ConstraintName: "task_one_waits_idx"}, KeyTaken},
		"an error of ours":                 {ErrKeyWaits, Crossed},
		"what is known from where it was":  {As(Slow, answer("57014", "", "")), Slow},
		"what follows lacks its partition": {As(NoPartition, answer("23514", "ExecFindPartition", "")), NoPartition},
	} {
		if got := Of(c.err); got != c.want {
			t.Errorf("%s: class %d, want %d", name, got, c.want)
		}
	}
}
