package fault

import (
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
)

// Class is what an error of a statement of ours means for what is to be done next.
type Class int

// Classes of errors. Those from Row on are matters of the rows that the statement was to write or
// read: the server goes on, and other rows may fare better. From Crossed on they pass by themselves.
const (
	None  Class = iota // no error
	Lost               // the connection, or our patience with it
	Whole              // of the table or the server as a whole, such as a missing right: it ends the term

	Row        // refuses it: a constraint, a trigger, a policy
	Unsendable // has a character that one of the two encodings lacks
	Slow       // takes longer than what follows on a task may

	Crossed     // another transaction was in the way, or SQL says so
	Locked      // another transaction has the lock that it needs
	Deadlocked  // likewise, and waits for one of ours
	Outdated    // our statement was prepared before a column was altered: the next time it is prepared again
	KeyTaken    // another task with its key has just come to wait
	QueueFull   // the server's queue of notifications has no room
	NoIDs       // the table's sequence has no ids left
	NoPartition // the table has no partition for what follows on a task
)

// OfRow tells whether it is a matter of rows.
func (c Class) OfRow() bool { return c >= Row }

// Passing tells whether another transaction is the cause, or it passes when the table has what it
// lacks.
func (c Class) Passing() bool { return c >= Crossed }

// OfLocks tells the server's own error of a lock that another transaction has, wherever it is met: in
// an index, or in a function, too.
func (c Class) OfLocks() bool { return c == Locked || c == Deadlocked }

// Lacks tells whether the table lacks an id or a partition: it takes a person.
func (c Class) Lacks() bool { return c == NoIDs || c == NoPartition }

// DiskFull is the code of an error that there is no room on a disk.
const DiskFull = "53100"

// Errors of the server that its routine tells from those of SQL, which RAISE gives any code.
const (
	QueueFullCode, QueueFullRoutine = "54000", "PreCommit_Notify"

	raised = "exec_stmt_raise"
)

// Whether only an error of our statement itself is meant.
const anywhere, inOurs = false, true

// table has the errors that are not the row's: the first line that an error suits counts. "" is any
// routine. Of some errors only those of our statement itself are meant, as their CONTEXT tells: SQL
// that runs below it can raise any code.
var table = []struct {
	code, routine string
	ours          bool
	class         Class
}{
	{"42501", "aclcheck_error", inOurs, Whole}, // another routine's is a policy's, and may be that of one row only
	{"42P01", "", inOurs, Whole},
	{"42703", "", inOurs, Whole},
	{"42704", "", inOurs, Whole},
	{DiskFull, raised, anywhere, Row},
	{DiskFull, "", anywhere, Whole}, // a full disk meets what a trigger does as well
	{"53200", raised, anywhere, Row},
	{"53200", "", anywhere, Whole},
	{"57014", "", inOurs, Whole}, // what is too slow for one row is a matter of that row
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

// Of is the class of an error.
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

// classified is an error whose class is known from where it was met.
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

// IsPartless tells the server's own error of a partition that is missing, which is a matter of the
// row itself or of what follows on it.
func IsPartless(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == "23514" && answer.Routine == "ExecFindPartition" && answer.Where == ""
}

// Below tells an error that was met in SQL which runs below our statement: it can raise any code.
func Below(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Where != ""
}

// Has tells whether err is an answer of the server with one of the SQLSTATEs.
func Has(err error, states ...string) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && slices.Contains(states, answer.Code)
}

// IsAnswer tells that the server has refused a statement and goes on.
func IsAnswer(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Severity == "ERROR"
}

// OfServer tells an error that says nothing of a row, wherever it was met: the server takes no writes
// or has no room for what it does, or somebody has cancelled that.
func OfServer(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && (answer.Code == "57014" || answer.Code == "25006" || strings.HasPrefix(answer.Code, "53"))
}

// IsDenied tells that a right is missing.
func IsDenied(err error) bool { return Has(err, "42501") }

// SQLSTATEs that only we have, of refusals that rows of ours tell of.
const (
	IDsTaken = "TK011"
	KeyWaits = "TK012"
	LeftOut  = "TK013"
	Kept     = "TK014"
)

// Errors of ours, like the server's own.
var (
	ErrIDsTaken = ours(IDsTaken, "very many ids that come next are taken")
	ErrKeyWaits = ours(KeyWaits, "another task has come to wait with the key of the repetition")
	ErrLeftOut  = ours(LeftOut, "a trigger or policy of the table has left out what follows on the task")
	ErrKept     = ours(Kept, "a trigger of the table keeps the row as it is")
)

func ours(code, message string) error {
	return &pgconn.PgError{Severity: "ERROR", Code: code, Message: message}
}
