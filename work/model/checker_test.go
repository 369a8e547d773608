package model

import (
	"fmt"
	"hash/maphash"
	"strings"
)

// search visits all states of a case, breadth first. It keeps them in chunks, and finds them by 128
// bits of hash: a state is large, and a case has millions of them.
type search struct {
	world  *world
	seen   map[hash]int32
	chunks [][]state
	parent []int32
	edges  []int32 // healthy steps: from, to, from, to …
	from   int32
	broken int32 // the first state that breaks a property, or -1
}

const chunk = 1 << 12

type hash [2]uint64

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func (w *world) explore() *search {
	f := &search{world: w, seen: map[hash]int32{}, from: -1, broken: -1}
	f.visit(w.begin())
	for f.from = 0; f.from < f.count() && f.broken < 0; f.from++ {
		s := *f.state(f.from)
		w.next(&s, f)
	}
	return f
}

func (f *search) count() int32 { return int32(len(f.parent)) }

func (f *search) state(i int32) *state { return &f.chunks[i/chunk][i%chunk] }

func (f *search) add(t step, s state) {
	at := f.visit(s)
	if t.healthy && at != f.from {
		f.edges = append(f.edges, f.from, at)
	}
}

func (f *search) visit(s state) int32 {
	f.world.canonical(&s)
	h := hash{maphash.Comparable(seeds[0], s), maphash.Comparable(seeds[1], s)}
	at, seen := f.seen[h]
	if seen {
		return at
	}
	at = f.count()
	f.seen[h] = at
	if at%chunk == 0 {
		f.chunks = append(f.chunks, make([]state, chunk))
	}
	*f.state(at) = s
	f.parent = append(f.parent, f.from)
	if f.broken < 0 && f.world.check(&s) != unbroken {
		f.broken = at
	}
	return at
}

// stuck is the first state from which no healthy steps lead to rest, or -1.
func (f *search) stuck() int32 {
	into := make([]int32, f.count()+1)
	for i := 1; i < len(f.edges); i += 2 {
		into[f.edges[i]+1]++
	}
	for i := range f.count() {
		into[i+1] += into[i]
	}
	sources, fill := make([]int32, len(f.edges)/2), append([]int32(nil), into...)
	for i := 0; i < len(f.edges); i += 2 {
		to := f.edges[i+1]
		sources[fill[to]] = f.edges[i]
		fill[to]++
	}
	ends := make([]bool, f.count())
	var todo []int32
	for i := range f.count() {
		if f.world.rests(f.state(i)) {
			ends[i], todo = true, append(todo, i)
		}
	}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, from := range sources[into[at]:into[at+1]] {
			if !ends[from] {
				ends[from], todo = true, append(todo, from)
			}
		}
	}
	for i, ok := range ends {
		if !ok {
			return int32(i)
		}
	}
	return -1
}

// trace shows the shortest way to a state. It starts again at the beginning, so that controllers
// and sessions keep their names.
func (f *search) trace(at int32) string {
	var way []int32
	for ; at > 0; at = f.parent[at] {
		way = append(way, at)
	}
	var text strings.Builder
	s := f.world.begin()
	for i := len(way) - 1; i >= 0; i-- {
		l := &lookup{world: f.world, wanted: *f.state(way[i])}
		f.world.next(&s, l)
		s = l.state
		fmt.Fprintf(&text, "\n%3d. %s", len(way)-i, l.step)
	}
	return text.String()
}

// lookup finds the step that leads to a state.
type lookup struct {
	world  *world
	wanted state
	step   step
	state  state
}

func (l *lookup) add(t step, s state) {
	for i := range 4 { // the stored state may have swapped names
		named := s
		if i&1 > 0 {
			named.swapControllers()
		}
		if i&2 > 0 {
			named.swapSessions()
		}
		l.world.canonical(&named)
		if named == l.wanted {
			l.step, l.state = t, s
		}
	}
}
