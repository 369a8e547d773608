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
