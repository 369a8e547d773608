//go:build slow

package attack

import (
	"context"
	"testing"
	"time"

	"pgtaskd/server"
	"pgtaskd/server/programtest"
)

// patience bounds each wait of a test, on a busy machine.
const patience = 15 * time.Second

// Written by TestMain before any test runs.
var (
	pgtaskd  string         // path of the program
	postgres *server.Server // shared by all tests
)

func TestMain(m *testing.M) {
	programtest.Main(6, false, settings, func(_ context.Context, s programtest.Stand) (int, error) { // the tests wait more than they compute
		pgtaskd, postgres = s.Program, s.Postgres
		return m.Run(), nil
	})
}

// settings of the server: fast, and without durability beyond the process.
var settings = map[string]string{
	"fsync":              "off",
	"full_page_writes":   "off",
	"synchronous_commit": "off",
	"max_connections":    "300",
	"autovacuum":         "off",
	"log_min_messages":   "log", // messages of the attacker's functions, but no errors
	"timezone":           "UTC",
}
