package exec

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

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

// waitMost is how many logins may wait for one purse at once, since a task holds its place in run
// meanwhile. Others fail.
const waitMost = 2

// Costly is the error of a login for which a server asks for more iterations than can be afforded.
type Costly struct{ text string }

func (e *Costly) Error() string { return e.text }

// Purse pays for what logins compute beyond iterationsFree for each. One that is empty fills in a
// second, with iterationsMost: about a third of one processor. Logins of one purse wait for each
// other. Any goroutine may use it.
//
// What the sessions say of those who have a purse comes from it too, see bound.pay.
type Purse struct {
	limiter *rate.Limiter // nil: what logins compute need not be paid for
	waiting atomic.Int32
	turn    chan struct{}
}

func newPurse(limiter *rate.Limiter) *Purse {
	return &Purse{limiter: limiter, turn: make(chan struct{}, 1)}
}

// Purses are those of one target: one for all remotes, one for each role of tasks, and one for the
// serving role, so that none holds up another. Any goroutine may use them. The zero value has none
// yet.
type Purses struct {
	of  sync.Map
	own sync.Once
	its *Purse
}

// Own returns that of the serving role in its own database, whose password is its own.
func (p *Purses) Own() *Purse {
	p.own.Do(func() { p.its = newPurse(nil) })
	return p.its
}

// Of returns the purse of a role; "": that of remotes.
func (p *Purses) Of(role string) *Purse {
	purse, known := p.of.Load(role)
	if !known {
		purse, _ = p.of.LoadOrStore(role, newPurse(rate.NewLimiter(iterationsMost, iterationsMost)))
	}
	return purse.(*Purse)
}

// affordable refuses more iterations than any proof may take.
func affordable(iterations int) error {
	if iterations > iterationsMost {
		return &Costly{fmt.Sprintf("the server asks for %d iterations of SCRAM, more than %d: lower scram_iterations there and set the password again", iterations, iterationsMost)}
	}
	return nil
}

// affords returns what waits until a proof can be afforded, and says why it can not; without a purse
// it does not wait.
func (p *Purse) affords(ctx context.Context) func(iterations int) error {
	if p == nil || p.limiter == nil {
		return affordable
	}
	return func(iterations int) error {
		if err := affordable(iterations); err != nil || iterations <= iterationsFree {
			return err
		}
		if p.limiter.AllowN(time.Now(), iterations) {
			return nil
		}
		defer p.waiting.Add(-1)
		if p.waiting.Add(1) > waitMost || p.limiter.WaitN(ctx, iterations) != nil {
			return &Costly{fmt.Sprintf("other connections whose servers ask for many iterations of SCRAM come first, and this one asks for %d: lower scram_iterations there and set the password again", iterations)}
		}
		return nil
	}
}

// proof returns when the proof that the server asks for may be computed. It may ask once: a server
// that knows the password could do so for ever.
func (b *bound) proof(iterations int) error {
	if iterations == 0 {
		return nil
	}
	if b.proved {
		return errors.New("the server asks for the password again and again")
	}
	b.proved = true
	return b.afford(iterations)
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
