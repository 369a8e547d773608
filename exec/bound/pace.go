package bound

import (
	"context"

	"golang.org/x/time/rate"

	"pgtaskd/exec/text"
)

// Everything that a server says costs processor time, even if it is of no use: a notice takes a few
// bytes. A task can name a server of its author's, which could use up all processors that way. So
// messages that add no output are free only up to what the row can show. Beyond that they are read
// at a limited pace, which SQL hardly reaches.

// Each read costs bytes of a shared pace: one for all remotes, since a task may name any number of
// them, and one for sessions in targets' own databases, which never wait for what remotes say.
const (
	saidEach = 32  // a message, beside its length
	saidRead = 512 // whatever is read at once: a server may send each byte by itself
	rowShare = 8   // rows and the data of COPY cost a part of their length
	paidBack = 32  // what the output grows by pays for so much

	saidFree = 256 << 10 // bytes of a task that wait for nobody
	saidRate = 32 << 20  // bytes a second, of all that share it: a tenth or two of one processor, at worst a half
	saidMost = 1 << 20   // of those, at once
	saidTurn = 32 << 10  // that one task may have before it is others' turn
)

// cost is what so many bytes of a message of the kind cost.
func cost(kind byte, length int) int {
	if kind == 'D' || kind == 'd' {
		return length / rowShare
	}
	return length
}

var ofRemotes, ofOwn = rate.NewLimiter(saidRate, saidMost), rate.NewLimiter(saidRate, saidMost)

// pace is what the server has said since the task began, and what of that has been paid for.
type pace struct {
	own  bool // of a session in the target's own database
	said int  // bytes that are not paid for
	paid int  // bytes of the output that have paid
}

// wait returns when more may be read.
func (c *pace) wait(output *text.Output) {
	if output != nil {
		grown := max(c.paid, output.Len()) // a part may have been taken back
		c.said = max(0, c.said-paidBack*(grown-c.paid))
		c.paid = grown
	}
	shared := ofRemotes
	if c.own {
		shared = ofOwn
	}
	for c.said > saidFree {
		n := min(c.said-saidFree, saidTurn)
		_ = shared.WaitN(context.Background(), n) // what is less than saidMost can't fail
		c.said -= n
	}
	c.said += saidRead
}
