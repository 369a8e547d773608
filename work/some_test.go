package work

import (
	"iter"

	"pgtaskd/server/servertest"
)

func someOf[T any](all map[string]T) iter.Seq2[string, T] { return servertest.SomeOf(all) }
