package work

import (
	"iter"
	"testing"

	"pgtaskd/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

func someOf[T any](all map[string]T) iter.Seq2[string, T] { return servertest.SomeOf(all) }
