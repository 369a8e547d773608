package main

import "context"

// row is a kind of work to measure.
type row interface {
	title() string
	// measure takes one round of figures, the same figures in each round.
	measure(ctx context.Context, s *stand) ([]figure, error)
}
