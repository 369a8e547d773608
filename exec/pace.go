package exec

import (
	"context"

	"golang.org/x/time/rate"
)

// Whatever a server says costs processor, even if it is of no use to anybody: a few bytes are a
// notice. Whose task names a server of their own could take all processors so. Rows and the data of
// COPY are what was asked for, up to the limit of the output; of all else each task may have as much
// as its row can show, and what goes beyond is read at a pace that SQL hardly reaches.

const (
	saidEach = 256       // a message costs as much as so many bytes of it
	saidFree = 256 << 10 // bytes of a task that wait for nobody
	saidRate = 512 << 20 // bytes a second, of all tasks together: a tenth or two of one processor
	saidMost = 16 << 20  // of those, at once
	saidTurn = 32 << 10  // that one task may have before it is others' turn
)

// wanted tells rows and the data of COPY by the kind of the message, as long as the output takes
// them.
func (b *bound) wanted(kind byte) bool {
	return (kind == 'D' || kind == 'd') && b.output != nil && !b.output.over
}

var talk = rate.NewLimiter(saidRate, saidMost)

// fetch reads from the connection, once there is time for what it has brought before.
func (b *bound) fetch(p []byte) (int, error) {
	for b.said > saidFree && !b.whole {
		n := min(b.said-saidFree, saidTurn)
		_ = talk.WaitN(context.Background(), n) // what is less than saidMost can't fail
		b.said -= n
	}
	return b.from.Read(p)
}
