package bound

import (
	"context"

	"golang.org/x/time/rate"
)

// Whatever a server says costs processor, even if it is of no use to anybody: a few bytes are a
// notice. Whose task names a server of their own could take all processors so. Of what no output
// grows by each task may have as much as its row can show, and what goes beyond is read at a pace
// that SQL hardly reaches.

// What is read costs bytes of a pace. All remotes share one, as a task may name any number of them.
// Sessions in targets' own databases share another: they wait for nothing that remotes say.
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

// fetch reads from the connection, once there is time for what it has brought before.
func (b *Reader) fetch(p []byte) (int, error) {
	if b.whole {
		return b.from.Read(p)
	}
	if b.output != nil {
		grown := max(b.paid, b.output.Len()) // a part may have been taken back
		b.said = max(0, b.said-paidBack*(grown-b.paid))
		b.paid = grown
	}
	for b.said > saidFree {
		b.pay(min(b.said-saidFree, saidTurn))
	}
	b.said += saidRead
	return b.from.Read(p)
}

// pay returns when so many bytes may be read.
func (b *Reader) pay(n int) {
	pace := ofRemotes
	if b.own {
		pace = ofOwn
	}
	_ = pace.WaitN(context.Background(), n) // what is less than saidMost can't fail
	b.said -= n
}
