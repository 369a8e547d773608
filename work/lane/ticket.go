package lane

import (
	"crypto/sha256"
	"strings"
	"time"
)

// Ticket is what lanes know of one task. A task embeds it. The exported fields are set before the
// task is handed to Prefetched, and do not change after that.
type Ticket struct {
	Lane    Key
	Rank    Rank
	Plan    time.Time // by the server's clock
	Expires time.Time // from then on it must not start, by the server's clock; zero: it always may
	Read    time.Time // by our clock: its row had been read by then
	Drift   bool      // a pause is counted from the end of the run before, not from its plan
	Suspect bool      // the server has crashed while it ran: nothing else starts while it is young

	passed  bool // the slot of the lane belongs to the next task of the session
	left    bool // the place in run belongs to the next task of the session
	tries   bool // it tries the gate of its remote, and has no place in run
	counted bool // in the rates of its group, until it is known when it began
}

// These make whatever embeds a Ticket a Holder.
func (t *Ticket) ticket() *Ticket { return t }
func (t *Ticket) rank() Rank      { return t.Rank }
func (t *Ticket) moved(int)       {}

// Holder is what lanes hand out: a pointer to a type that embeds Ticket.
type Holder interface {
	ranked
	ticket() *Ticket
}

// Rank is a task's place in its lane: larger max first, then higher priority, then lower id.
type Rank struct {
	ID       int64
	Max      int32 // below 0: one at a time, with a pause of so many milliseconds
	Priority int32
}

func (a Rank) rank() Rank { return a }
func (a Rank) moved(int)  {}

func (a Rank) before(b Rank) bool {
	if a.Max != b.Max {
		return a.Max > b.Max
	}
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	return a.ID < b.ID
}

// ranked is what has a place in a heap: a rank itself, a task, or a lane. It is told which place.
type ranked interface {
	rank() Rank
	moved(i int) // -1: it is taken out
}

// Key tells lanes apart: by the group's and the remote's own text, or, as there may be many lanes,
// by what stands for a long one and for no other.
type Key struct {
	group  string
	remote string // "" is the target's own database
}

// nameMost is the longest name that a lane keeps, in bytes. Of a longer one it keeps so much after
// the hash: rows of the table of groups may name its beginning.
const (
	nameMost = 100
	hashSize = sha256.Size
)

// KeyOf is the key of the lane of a group and a remote. Any goroutine may call it.
func KeyOf(group, remote string) Key { return Key{Brief(group), Brief(remote)} }

// Brief is a name of at most 100 bytes, or what stands for a longer one and for no other. What the
// server sends for one that is longer still, with code 1 in front, stays. Any goroutine may call it.
func Brief(name string) string {
	if len(name) <= nameMost || strings.HasPrefix(name, "\x01") {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "\x00" + string(sum[:]) + name[:nameMost] // code 0, which no name of the server's has
}

// Head is what Brief has kept of the beginning of a name. Any goroutine may call it.
func Head(key string) string {
	switch {
	case strings.HasPrefix(key, "\x00"):
		return key[min(len(key), 1+hashSize):]
	case strings.HasPrefix(key, "\x01"):
		return key[min(len(key), 1+2*hashSize):] // which the server writes in hexadecimal digits
	}
	return key
}
