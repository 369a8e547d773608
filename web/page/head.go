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
