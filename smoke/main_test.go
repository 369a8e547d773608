package smoke

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"pgtaskd/server"
	"pgtaskd/server/programtest"
)

// patience bounds how long a test waits for what must come, on a busy machine.
const patience = 20 * time.Second

// Written by TestMain before any test runs.
var (
	pgtaskd  string         // path of the program
	postgres *server.Server // of all tests but those that crash theirs
	shared   *served        // public.task of a database of its own, for all tests that need no target to themselves
)

func TestMain(m *testing.M) {
	flag.Parse()
	// The tests wait more than they compute.
	if err := flag.Set("test.parallel", "12"); err != nil {
		panic(err)
	}
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// runTests makes what the tests stand on, runs them, and clears it away.
func runTests(m *testing.M) (code int, err error) {
	folder, err := os.MkdirTemp("", "pgtaskd-smoke-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	if pgtaskd, err = programtest.Build(folder, race); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if postgres, err = server.Start(ctx, server.Options{Settings: settings}); err != nil {
		return 0, err
	}
	defer func() {
		if stopped := postgres.Stop(); err == nil {
			err = stopped
		}
	}()
	if shared, err = serveShared(ctx, folder); err != nil {
		return 0, err
	}
	code = m.Run()
	if code != 0 {
		fmt.Fprintf(os.Stderr, "the shared pgtaskd:\n%s", shared.program.Log)
	}
	return code, shared.end()
}

// settings of the servers: quick, and not durable beyond the process.
var settings = map[string]string{
	"fsync":                     "off",
	"full_page_writes":          "off",
	"max_connections":           "300",
	"max_prepared_transactions": "10",
	"timezone":                  "UTC",
}
