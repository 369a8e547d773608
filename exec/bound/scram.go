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
// processor each; a role says it when it sets its password. pgconn computes up to ten million of
// them, and nothing interrupts it. Whose task names a server of their own, or runs as their own
// role, could take all processors so.

// How many iterations a server may ask for.
const (
	iterationsFree = 4096      // PostgreSQL's default, which waits for nobody
	iterationsMost = 1_000_000 // in one proof, 0.3 s
)

// Costly is the error of a login for which a server asks for more iterations than can be afforded.
type Costly struct{ text string }

func (e *Costly) Error() string { return e.text }

// proofs pays for what logins to remotes and of tasks' roles compute beyond iterationsFree: about a
// third of one processor.
var proofs = rate.NewLimiter(iterationsMost, iterationsMost)

// affordable refuses more iterations than any proof may take.
func affordable(iterations int) error {
	if iterations > iterationsMost {
		return &Costly{fmt.Sprintf("the server asks for %d iterations of SCRAM, more than %d: lower scram_iterations there and set the password again", iterations, iterationsMost)}
	}
	return nil
}

// affords returns what waits until a proof can be afforded, and says why it can not.
func affords(ctx context.Context) func(iterations int) error {
	return func(iterations int) error {
		if err := affordable(iterations); err != nil || iterations <= iterationsFree {
			return err
		}
		if proofs.WaitN(ctx, iterations) != nil {
			return &Costly{fmt.Sprintf("other connections whose servers ask for many iterations of SCRAM come first, and this one asks for %d: lower scram_iterations there and set the password again", iterations)}
		}
		return nil
	}
}

// authenticates follows what the server asks for. A proof is awaited until it can be afforded, and
// may be asked for once: a server that knows the password could do so for ever.
func (b *Reader) authenticates(body []byte) {
	if len(body) < 4 {
		return
	}
	switch binary.BigEndian.Uint32(body) {
	case pgproto3.AuthTypeCleartextPassword, pgproto3.AuthTypeMD5Password, pgproto3.AuthTypeSASL:
		b.asked = true
	case pgproto3.AuthTypeSASLContinue:
		n := iterations(body)
		switch {
		case n == 0:
		case b.proved:
			b.wrong = errors.New("the server asks for the password again and again")
		default:
			b.proved, b.wrong = true, b.afford(n)
		}
	}
}

// iterations is what a message of SCRAM says of them, 0 where it says nothing that pgconn
// understands.
func iterations(body []byte) int {
	_, said, _ := bytes.Cut(body[4:], []byte(",i="))
	n, _ := strconv.Atoi(string(said))
	return n
}
