package exec

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgproto3"
	"golang.org/x/time/rate"
)

// A server that asks for a password by SCRAM says how many iterations the proof takes, 0.3 µs of
// processor each; a role says it when it sets its password. pgconn computes up to ten million of
// them, and nothing interrupts it. Whose task names a server of their own, or runs as their own role,
// could take all processors so.

// How many iterations a server may ask for.
const (
	iterationsFree = 4096      // PostgreSQL's default, which waits for nobody
	iterationsMost = 1_000_000 // in one proof, 0.3 s
)

// proofs bounds what all sessions on remotes and of tasks' roles compute together, beyond
// iterationsFree for each, in iterations: about a third of one processor.
var proofs = rate.NewLimiter(iterationsMost, iterationsMost)

// affordable refuses more iterations than any proof may take.
func affordable(iterations int) error {
	if iterations > iterationsMost {
		return fmt.Errorf("the server asks for %d iterations of SCRAM, more than %d: lower scram_iterations there and set the password again", iterations, iterationsMost)
	}
	return nil
}

// afford returns when the proof may be computed, or with an error.
func afford(ctx context.Context, iterations int) error {
	if err := affordable(iterations); err != nil {
		return err
	}
	if iterations <= iterationsFree {
		return nil
	}
	if proofs.WaitN(ctx, iterations) != nil {
		return fmt.Errorf("other connections whose servers ask for many iterations of SCRAM come first, and this one asks for %d: lower scram_iterations there and set the password again", iterations)
	}
	return nil
}

// iterations is what the body of an authentication message says of them, 0 where it says nothing
// that pgconn understands.
func iterations(body []byte) int {
	if len(body) < 4 || binary.BigEndian.Uint32(body) != pgproto3.AuthTypeSASLContinue {
		return 0
	}
	_, said, _ := bytes.Cut(body[4:], []byte(",i="))
	n, _ := strconv.Atoi(string(said))
	return n
}
