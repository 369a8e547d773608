package fault

import (
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
)

// Class says what the program does next after an error of a statement of ours.
type Class int

// Classes of errors. From Row on, the rows that the statement writes or reads are the cause: the
// server goes on, and the statement may succeed with other rows. From Crossed on, the error passes
// by itself or when the table gets what it lacks.
const (
	None  Class = iota // no error
	Lost               // the connection broke, or our time limit passed
	Whole              // the whole table or server is the cause, for example a missing right: it ends the term

	Row        // a constraint, trigger or policy refuses the row
	Unsendable // the row has a character that one of the two encodings lacks
	Slow       // the follow-up of a task takes longer than it may

	Crossed     // another transaction was in the way, or SQL raised an error that says so
	Locked      // another transaction holds a lock that our statement needs
	Deadlocked  // likewise, and it waits for a lock of ours
	Outdated    // a column was altered after our statement was prepared; we prepare it again next time
	KeyTaken    // another task with the same key waits since a moment ago
	QueueFull   // the server's queue of notifications has no room
	NoIDs       // the table's sequence has no ids left
	NoPartition // the table has no partition for the follow-up of a task
)

// OfRow tells whether the rows of the statement are the cause.
func (c Class) OfRow() bool { return c >= Row }

// Passing tells whether the error passes: another transaction is the cause, or the table lacks
// something that a person can add.
func (c Class) Passing() bool { return c >= Crossed }

// OfLocks tells whether the server itself reports a lock of another transaction. Our statement may
// meet that lock anywhere, also in an index or a function.
func (c Class) OfLocks() bool { return c == Locked || c == Deadlocked }

// Lacks tells whether the table lacks an id or a partition, which a person must add.
func (c Class) Lacks() bool { return c == NoIDs || c == NoPartition }

// DiskFull is the code of the error of a full disk.
const DiskFull = "53100"

// Routines tell the server's own errors from those of SQL: RAISE can give an error any code.
const (
	QueueFullCode, QueueFullRoutine = "54000", "PreCommit_Notify"

	raised = "exec_stmt_raise"
)

// inOurs: a line of table counts only for errors of our statement itself.
const anywhere, inOurs = false, true

// table maps errors to classes; all others are Row. The first line that matches counts; "" matches
// any routine. An error without CONTEXT comes from our statement itself, not from SQL that runs
// below our statement (a trigger, a function), which can raise any code.
var table = []struct {
	code, routine string
	ours          bool
	class         Class
}{
	{"42501", "aclcheck_error", inOurs, Whole}, // from another routine: a policy, perhaps for one row only
	{"42P01", "", inOurs, Whole},
	{"42703", "", inOurs, Whole},
	{"42704", "", inOurs, Whole},
	{DiskFull, raised, anywhere, Row},
	{DiskFull, "", anywhere, Whole}, // even inside a trigger, a full disk is not the row's fault
	{"53200", raised, anywhere, Row},
	{"53200", "", anywhere, Whole},
	{"57014", "", inOurs, Whole}, // with CONTEXT: one row's trigger was too slow
	{"25006", "", inOurs, Whole},
	{"57P01", "", inOurs, Whole},
	{"57P02", "", inOurs, Whole},
	{"57P03", "", inOurs, Whole},

	{"22P05", "", anywhere, Unsendable},
	{"22021", "", anywhere, Unsendable},

	{"40001", "", anywhere, Crossed},
	{"55P03", "ProcessInterrupts", anywhere, Locked},
	{"55P03", "", anywhere, Crossed},
	{"40P01", "DeadLockReport", anywhere, Deadlocked},
	{"40P01", "", anywhere, Crossed},
	{IDsTaken, "", anywhere, Crossed},
	{KeyWaits, "", anywhere, Crossed},
	{"0A000", "RevalidateCachedQuery", inOurs, Outdated},
	{QueueFullCode, QueueFullRoutine, anywhere, QueueFull},
	{"2200H", "", inOurs, NoIDs},
}

// Of returns the class of an error.
func Of(err error) Class {
	var known *classified
	var answer *pgconn.PgError
	switch {
	case err == nil:
		return None
	case errors.As(err, &known):
		return known.class
	case !errors.As(err, &answer), answer.Severity == "FATAL", answer.Severity == "PANIC":
		return Lost
	case answer.Code == "23505" && sql.IsWaitKey(answer.ConstraintName):
		return KeyTaken
	}
	for _, line := range table {
		routine := line.routine == "" || line.routine == answer.Routine
		if line.code == answer.Code && routine && (!line.ours || answer.Where == "") {
			return line.class
		}
	}
	return Row
}

// classified is an error whose class follows from where it happened.
type classified struct {
	error
	class Class
}

func (c *classified) Unwrap() error { return c.error }

// As gives an error its class; nil stays nil.
func As(class Class, err error) error {
	if err == nil {
		return nil
	}
	return &classified{err, class}
}

// IsPartless tells whether the server itself reports a missing partition. The row of the task or
// the row of its follow-up needs that partition.
func IsPartless(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == "23514" && answer.Routine == "ExecFindPartition" && answer.Where == ""
}

// Below tells whether the error comes from SQL that runs below our statement, which can raise any
// code.
func Below(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Where != ""
}

// Has tells whether err is a server's error with one of the SQLSTATEs.
func Has(err error, states ...string) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && slices.Contains(states, answer.Code)
}

// IsAnswer tells whether the server has refused a statement and goes on.
func IsAnswer(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Severity == "ERROR"
}

// Away tells whether no server has answered an attempt to connect, at none of its addresses.
func Away(err error) bool {
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(err error) bool { return !Away(err) })
	case net.Error:
		return true
	case interface{ Unwrap() error }:
		return Away(e.Unwrap())
	}
	return false
}

// OfServer tells whether the error is never about a row, wherever it happens: the server takes no
// writes, lacks disk, memory or another resource, or somebody has cancelled the statement.
func OfServer(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && (answer.Code == "57014" || answer.Code == "25006" || strings.HasPrefix(answer.Code, "53"))
}

// IsDenied tells whether a right is missing.
func IsDenied(err error) bool { return Has(err, "42501") }

// SQLSTATEs of our own, with which our SQL refuses a row.
const (
	IDsTaken = "TK011"
	KeyWaits = "TK012"
	LeftOut  = "TK013"
	Kept     = "TK014"
)

// Errors of our own, in the form of server errors.
var (
	ErrIDsTaken = ours(IDsTaken, "very many ids that come next are taken")
	ErrKeyWaits = ours(KeyWaits, "another task has come to wait with the key of the repetition")
	ErrLeftOut  = ours(LeftOut, "a trigger or policy of the table has left out what follows on the task")
	ErrKept     = ours(Kept, "a trigger of the table keeps the row as it is")
)

func ours(code, message string) error {
	return &pgconn.PgError{Severity: "ERROR", Code: code, Message: message}
}
