package main

import "context"

// row is a kind of work that is measured.
type row interface {
	title() string
	// measure takes one round of figures, the same ones in each round.
	measure(ctx context.Context, s *stand) ([]figure, error)
}
