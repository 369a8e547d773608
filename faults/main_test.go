// Package faults holds tests of what goes wrong around pgtaskd: servers that stop, are full, locked or read-only, rights that are taken
// away, tables that are changed or dropped. Each fault is logged once, ends by itself when its cause does, loses and doubles nothing, and
// another target does not notice.
package faults

import (
	"flag"
	"testing"

	"pgtaskd/server/servertest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "30"); err != nil { // the tests wait more than they compute
		panic(err)
	}
	servertest.Main(m)
}
