package smoke

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"pgtaskd/server"
	"pgtaskd/server/programtest"
)

// patience bounds each wait of a test, on a busy machine.
const patience = 20 * time.Second

// Written by TestMain before any test runs.
var (
	pgtaskd  string         // path of the program
	postgres *server.Server // shared by all tests but those that crash their own
	shared   *served        // public.task of another database, for all tests that do not need their own target
)

func TestMain(m *testing.M) {
	programtest.Main(12, race, settings, func(ctx context.Context, s programtest.Stand) (code int, err error) { // the tests wait more than they compute
		pgtaskd, postgres = s.Program, s.Postgres
		if shared, err = serveShared(ctx, s.Folder); err != nil {
			return 0, err
		}
		code = m.Run()
		if code != 0 {
			fmt.Fprintf(os.Stderr, "the shared pgtaskd:\n%s", shared.program.Log)
		}
		return code, shared.end()
	})
}

// settings of the servers: fast, and without durability beyond the process.
var settings = map[string]string{
	"fsync":                     "off",
	"full_page_writes":          "off",
	"max_connections":           "300",
	"max_prepared_transactions": "10",
	"timezone":                  "UTC",
}
