package rows

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/human"
	"pgtaskd/work"
)

const (
	headFresh  = time.Second     // how long a head is good for
	headFailed = 3 * time.Second // the same if the table could not be read
	headWait   = time.Second     // how long a page waits for it
	headLimit  = 10 * time.Second
)

// heads keeps the last Head of each target, so that many open pages read it once a second.
type heads struct {
	mu    sync.Mutex
	known map[string]*known // by target
}

// known is what is known of one target.
type known struct {
	head    Head
	good    time.Time     // until then
	reading chan struct{} // closed when the read under way is over; nil: there is none
	began   time.Time     // that read, or the last one
}

// Heads returns the heads of the targets in their order, after at most about a second: then, and
// while a server is known not to answer, it returns what it knows. Target of each is empty.
func (s *Sessions) Heads(ctx context.Context, targets []work.Target) []Head {
	waits := make([]<-chan struct{}, len(targets))
	for i, t := range targets {
		waits[i] = s.refresh(t)
	}
	ctx, cancel := context.WithTimeout(ctx, headWait)
	defer cancel()
	found := make([]Head, len(targets))
	for i, t := range targets {
		select {
		case <-waits[i]:
		case <-ctx.Done():
		}
		found[i] = s.heads.last(t)
	}
	return found
}

var over = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// refresh reads the head of a target unless it is known well enough. The channel is closed when
// there is nothing to wait for any more.
func (s *Sessions) refresh(t work.Target) <-chan struct{} {
	now := time.Now()
	s.heads.mu.Lock()
	defer s.heads.mu.Unlock()
	k := s.heads.known[identity(t)]
	if k == nil {
		k = &known{}
		s.heads.known[identity(t)] = k
	}
	if k.reading == nil && now.After(k.good) {
		reading := make(chan struct{})
		k.reading, k.began = reading, now
		s.crew.Go(func() {
			defer close(reading)
			s.readHead(t, k)
		})
	}
	if k.reading == nil || k.head.Unread != "" || now.Sub(k.began) > headWait {
		return over
	}
	return k.reading
}

// readHead reads the head of a target. One session at most of a server is used for heads, so that
// pages find the other one.
func (s *Sessions) readHead(t work.Target, k *known) {
	ctx, cancel := context.WithTimeout(s.crew.Context(), headLimit)
	defer cancel()
	began := time.Now()
	var h Head
	at := s.server(t)
	var err error
	select {
	case at.head <- struct{}{}:
		began = time.Now()
		err = s.within(ctx, t, headWait, headDial, pgx.ReadOnly, func(ctx context.Context, b *Table) error { return b.head(ctx, &h) })
		<-at.head
	case <-ctx.Done():
		err = errBusy
	}
	s.heads.mu.Lock()
	defer s.heads.mu.Unlock()
	k.reading = nil
	// Slow servers are asked less often.
	k.good = time.Now().Add(max(headFresh, 10*time.Since(began)))
	switch {
	case errors.Is(err, errBusy): // by other pages: nothing is wrong with the table
		if !k.head.At.Valid {
			k.head.Unread = err.Error()
		}
		return
	case err != nil:
		h.Unread = human.Masked(err.Error())
		k.good = time.Now().Add(headFailed)
	}
	k.head = h
}

// last returns the head of a target, with what this controller knows itself.
func (hs *heads) last(t work.Target) Head {
	hs.mu.Lock()
	k := hs.known[identity(t)]
	h, late := k.head, k.reading != nil && time.Since(k.began) >= headWait
	hs.mu.Unlock()
	if h.Unread == "" && late {
		h.Unread = "the server has not answered within a second"
	}
	standing := t.Stats.Standing()
	switch {
	case standing.Leads && (h.Leader != "" || !h.At.Valid): // it may be draining, without the lock
		h.Here = "leads"
	case standing.StandsBy:
		h.Here = "stands by"
	}
	h.Fault = human.Masked(standing.Fault)
	if text, at := t.Stats.LastFault(); h.Fault == "" {
		h.LastFault, h.FaultAt = human.Masked(text), stamp(at)
	}
	return h
}

// forget drops the heads that nobody has wanted for some time: they were read, and went stale.
func (hs *heads) forget(age time.Duration) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	maps.DeleteFunc(hs.known, func(_ string, k *known) bool { return k.reading == nil && time.Since(k.good) > age })
}

func identity(t work.Target) string { return t.Name() + "\x00" + t.Connect.String() }
