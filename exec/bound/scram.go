package bound

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgproto3"
	"golang.org/x/time/rate"
)

// A server that asks for a password by SCRAM says how many iterations the proof takes, 0.3 µs of
// processor time each; a role chooses their number with its password. pgconn computes up to ten
// million of them, and nothing interrupts it. An author of tasks who has a server or a role could
// use up all processors that way.

// How many iterations a server may ask for.
const (
	iterationsFree = 4096      // PostgreSQL's default, which waits for nobody
	iterationsMost = 1_000_000 // in one proof, 0.3 s
)

// Costly is the error of a login for which a server asks for more iterations than can be afforded.
type Costly struct{ text string }

func (e *Costly) Error() string { return e.text }

// proofs is the budget for iterations beyond iterationsFree, of logins to remotes and as tasks'
// roles: about a third of one processor.
var proofs = rate.NewLimiter(iterationsMost, iterationsMost)

// login is how far the server has gone in asking for a password.
type login struct {
	asked  bool            // for one, in whatever form
	proved bool            // for a proof of it
	waits  context.Context // until it ends, the proof waits until it can be afforded; nil: it does not wait
}

// afford is an error if so many iterations are too many, or too many for now.
func (l *login) afford(iterations int) error {
	switch {
	case iterations > iterationsMost:
		return &Costly{fmt.Sprintf("the server asks for %d iterations of SCRAM, more than %d: "+
			"lower scram_iterations there and set the password again", iterations, iterationsMost)}
	case iterations > iterationsFree && l.waits != nil && proofs.WaitN(l.waits, iterations) != nil:
		return &Costly{fmt.Sprintf("other connections whose servers ask for many iterations of SCRAM come first, "+
			"and this one asks for %d: lower scram_iterations there and set the password again", iterations)}
	}
	return nil
}

// asks follows what the server asks for. It waits until a proof can be afforded. The server may ask
// for one proof: if it knows the password, it could ask for ever.
func (l *login) asks(body []byte) error {
	if len(body) < 4 {
		return nil
	}
	switch binary.BigEndian.Uint32(body) {
	case pgproto3.AuthTypeCleartextPassword, pgproto3.AuthTypeMD5Password, pgproto3.AuthTypeSASL:
		l.asked = true
	case pgproto3.AuthTypeSASLContinue:
		n := iterations(body)
		if n == 0 {
			return nil
		}
		if l.proved {
			return errors.New("the server asks for the password again and again")
		}
		l.proved = true
		return l.afford(n)
	}
	return nil
}

// iterations is the number in a message of SCRAM; 0 if pgconn would find none.
func iterations(body []byte) int {
	_, said, _ := bytes.Cut(body[4:], []byte(",i="))
	n, _ := strconv.Atoi(string(said))
	return n
}
