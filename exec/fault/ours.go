package fault

import "github.com/jackc/pgx/v5/pgconn"

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
