package run

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/lane"
)

// Long texts come when their task starts, as many as there is room for in the whole program, and go
// when the server has them: they are not kept while their task runs. A remote may take its time to
// take them, so its tasks have room of their own. Nobody has room while they wait for what others
// can hold up, as the mark of a row that is locked: the texts go before that, and come again.

const (
	textsMost  = 16 << 20           // the room, in bytes
	textHead   = exec.TextLimit + 1 // what is kept of a long input, for its errors
	sendingMax = 20 * time.Second   // for a remote to take long texts
	sendingOwn = 2 * time.Minute    // for our own server, over a slow network
)

var ownTexts, remoteTexts = newAllowance(textsMost), newAllowance(textsMost)

// Sizes are those of the texts of a task, in bytes, and its names.
type Sizes struct {
	Group, Remote, Null, Input, Data int64
	Names                            [3]*string // nil: too long
}

// IsBehind tells a name that did not come with the others, but what stands for it.
func IsBehind(name string) bool { return strings.HasPrefix(name, "\x01") }

// learn asks for the names of a task that has long texts; false when its end is known by that.
func (r *runner) learn(t *Task) bool {
	r.flush() // nothing of ours stays open while we wait
	told := r.text(t, Names)
	if told.Sizes != nil {
		told.Refused = tooLong(told.Sizes, r.LongestText)
		t.TooLong = told.Refused != nil
	}
	if !told.OK || told.Refused != nil {
		r.turnAway(t, told.Refused)
		return false
	}
	t.sizes = told.Sizes
	names := told.Sizes.Names
	t.sizes.Names = [3]*string{}
	t.Row.Group, t.Row.Remote, t.Row.Format.Null = *names[0], *names[1], *names[2]
	t.Shows = r.Shows(t.Row.Group)
	return true
}

// turnAway ends a task whose texts cannot be had, or, without a failure, cannot be had now.
func (r *runner) turnAway(t *Task, failure *exec.Failure) {
	o := Outcome{Task: t, Kind: Released}
	if failure != nil {
		o = Outcome{Task: t, Kind: Finished, Stop: r.Clock.Now(), Fault: failure}
	}
	if t.Marks.Load() && r.session != nil { // its row may show the session
		o.PID, o.Since = int32(r.session.PID), r.session.Since
	}
	r.note(o)
}

// nameLongest is the longest group, remote and null, in bytes.
const nameLongest = 64 << 10

// tooLong is the failure of a task with a text that is longer than may be; nil: there is none.
func tooLong(s *Sizes, most int64) *exec.Failure {
	for _, text := range []struct {
		column     string
		size, most int64
		limit      string
	}{
		{"group", s.Group, nameLongest, ""},
		{"remote", s.Remote, nameLongest, ""},
		{"null", s.Null, nameLongest, ""},
		{"input", s.Input, most, "data_limit of the target is"},
		{"data", s.Data, most, "data_limit of the target is"},
	} {
		if text.size <= text.most {
			continue
		}
		limit := text.limit
		if limit == "" {
			limit = "the most is"
		}
		return exec.NewFailure(fmt.Sprintf("column %q is too long", text.column), "54000",
			"DETAIL", fmt.Sprintf("It has %d bytes; %s %d.", text.size, limit, text.most))
	}
	return nil
}

// load brings the long texts of a task, when there is room; false when its end is known by that.
// Each time they must be the same: what they are was looked at once, before the mark.
func (r *runner) load(t *Task) bool {
	if t.room = t.allowance().enter(r.Group.Context(), r.Dispatcher, t.sizes.Input+t.sizes.Data); t.room == nil {
		r.turnAway(t, nil)
		return false
	}
	texts := [2]*string{}
	for i, which := range []Text{Input, Data} {
		told := r.text(t, which)
		if texts[i] = told.Text; !told.OK || told.Refused != nil || told.Text == nil {
			t.unload(nil)
			r.turnAway(t, told.Refused)
			return false
		}
	}
	digest := [2]uint64{maphash.String(digestSeed, *texts[0]), maphash.String(digestSeed, *texts[1])}
	if t.digest != nil && *t.digest != digest {
		t.unload(nil)
		r.turnAway(t, exec.NewFailure("task was changed before it started", "55000",
			"DETAIL", "Its input or data was not the same when it was read again."))
		return false
	}
	t.Row.Input, t.Row.Data, t.digest = texts[0], texts[1], &digest
	return true
}

// digestSeed is not known outside: nobody can write two texts that have one digest.
var digestSeed = maphash.MakeSeed()

// unload lets go of long texts, which the server has, or is not to have.
func (t *Task) unload(spec *exec.Task) {
	if t.room == nil {
		return
	}
	if input := t.Row.Input; input != nil && len(*input) > textHead {
		head := strings.Clone((*input)[:textHead])
		t.Row.Input = &head
	}
	t.Row.Data = nil // both come again should it be run again
	if spec != nil {
		spec.Input, spec.Usual = *t.Row.Input, exec.Usual{}
	}
	t.allowance().leave(t.room)
	t.room = nil
}

// forgetNames lets go of long names, when the task has ended.
func (t *Task) forgetNames() {
	if t.sizes != nil {
		t.Row.Group, t.Row.Remote, t.Row.Format.Null, t.Shows = lane.Brief(t.Row.Group), lane.Brief(t.Row.Remote), "", nil
	}
}

func (t *Task) allowance() *allowance {
	if t.Row.Remote == "" {
		return ownTexts
	}
	return remoteTexts
}

// sending is how long the server may take to take a task with long texts; 0: it has none.
func (t *Task) sending() time.Duration {
	switch {
	case t.room == nil:
		return 0
	case t.Row.Remote == "":
		return sendingOwn
	}
	return sendingMax
}

// allowance shares room out between targets: to the one that has least of it, and to those who have
// come first. None has more than half, but for a single text, so that there is mostly room for
// others. Any goroutine may use it.
type allowance struct {
	most int64

	mu      sync.Mutex
	free    int64
	held    map[any]int64 // by owner
	waiting []*place      // in the order in which they came
}

// place is room for n bytes, or the wish for it.
type place struct {
	owner any
	n     int64
	let   chan struct{} // closed when there is room
}

func newAllowance(most int64) *allowance {
	return &allowance{most: most, free: most, held: map[any]int64{}}
}

// enter waits for room for n bytes; for all there is, if that is more. It returns nil when ctx ends
// first.
func (g *allowance) enter(ctx context.Context, owner any, n int64) *place {
	p := &place{owner: owner, n: min(n, g.most), let: make(chan struct{})}
	g.mu.Lock()
	g.waiting = append(g.waiting, p)
	g.admit()
	g.mu.Unlock()
	select {
	case <-p.let:
		return p
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting, p); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	} else {
		g.holds(p, -p.n)
	}
	g.admit()
	return nil
}

// leave gives room back.
func (g *allowance) leave(p *place) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holds(p, -p.n)
	g.admit()
}

// holds counts n more bytes as in use.
func (g *allowance) holds(p *place, n int64) {
	g.free -= n
	if g.held[p.owner] += n; g.held[p.owner] == 0 {
		delete(g.held, p.owner)
	}
}

// admit lets those in for whom there is room.
func (g *allowance) admit() {
	for i := g.next(); i >= 0 && g.waiting[i].n <= g.free; i = g.next() {
		p := g.waiting[i]
		g.waiting = slices.Delete(g.waiting, i, i+1)
		g.holds(p, p.n)
		close(p.let)
	}
}

// next is who is to be let in next, -1: nobody. Of each owner that is who came first: one that needs
// much would wait for ever behind others.
func (g *allowance) next() int {
	next, seen := -1, map[any]bool{}
	for i, p := range g.waiting {
		if seen[p.owner] {
			continue
		}
		seen[p.owner] = true
		held := g.held[p.owner]
		if (held == 0 || held+p.n <= g.most/2) && (next < 0 || held < g.held[g.waiting[next].owner]) {
			next = i
		}
	}
	return next
}
