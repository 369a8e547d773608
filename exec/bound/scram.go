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

// A server that asks for a password by SCRAM says how many iterations the proof takes: 0.3 µs of
// processor time each. A role chooses the number when it sets its password. pgconn computes up to
// ten million iterations, and nothing can interrupt it. So an author of tasks who has a server or a
// role could use up all our processors.

// Limits for the iterations that a server may ask for.
const (
	iterationsFree = 4096      // PostgreSQL's default: costs no budget
	iterationsMost = 1_000_000 // for one proof, which takes 0.3 s
)

// Costly is the error of a login whose server asks for more iterations than we allow.
type Costly struct{ text string }

func (e *Costly) Error() string { return e.text }

// proofs is the budget of logins to remotes and as tasks' roles that ask for more than
// iterationsFree: about a third of one processor.
var proofs = rate.NewLimiter(iterationsMost, iterationsMost)

// login records whether and how the server has asked for a password.
type login struct {
	asked  bool            // it has asked for a password in any form
	proved bool            // it has asked for a SCRAM proof
	waits  context.Context // limits the wait for the budget; nil: the login needs no budget
}

// afford waits for the budget of a proof. The error is a *Costly.
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

// asks takes an authentication request of the server, and waits for the budget of a proof. The
// server may ask for one proof only: a server that knows the password could ask forever.
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

// iterations returns the number of iterations in a SCRAM message; 0 if pgconn would find none.
func iterations(body []byte) int {
	_, said, _ := bytes.Cut(body[4:], []byte(",i="))
	n, _ := strconv.Atoi(string(said))
	return n
}
