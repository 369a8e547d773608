package page

import (
	"context"

	"pgtaskd/web/rows"
	"pgtaskd/work"
)

// Heads reads the heads of targets for Sheet.Heads. It takes about a second at most.
func Heads(ctx context.Context, s *rows.Sessions, targets []Target) []rows.Head {
	all := make([]work.Target, len(targets))
	for i, t := range targets {
		all[i] = t.Target
	}
	found := s.Heads(ctx, all)
	for i, t := range targets {
		found[i].Target = t.Name
	}
	return found
}

// Calm tells whether a target is led, can be read, and has nothing paused.
func Calm(h rows.Head) bool {
	return h.Leader != "" && h.Fault == "" && h.Unread == "" && len(h.Paused) == 0 && h.PausedJobs == 0
}

// HeadsMost is how many targets have a head of their own on each page, whatever their state.
const HeadsMost = 3

// HeadView is what the template of a head shows.
type HeadView struct {
	rows.Head
	Sheet *Sheet
}

// Loud returns the heads that everybody must see: those of targets with trouble or pauses, and of
// the one that the URL names; of few targets all.
func (s *Sheet) Loud() []HeadView { return s.heads(true) }

// Quiet returns the other heads.
func (s *Sheet) Quiet() []HeadView { return s.heads(false) }

func (s *Sheet) heads(loud bool) (all []HeadView) {
	for _, h := range s.Heads {
		if loud == (!Calm(h) || len(s.Heads) <= HeadsMost || h.Target == s.Asked.Query.Get("target")) {
			all = append(all, HeadView{h, s})
		}
	}
	return all
}
