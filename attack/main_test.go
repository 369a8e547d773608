//go:build slow

package attack

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
const patience = 15 * time.Second

// Written by TestMain before any test runs.
var (
	pgtaskd  string         // path of the program
	postgres *server.Server // of all tests
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil { // the tests wait more than they compute
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
	folder, err := os.MkdirTemp("", "pgtaskd-attack-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	if pgtaskd, err = programtest.Build(folder, false); err != nil {
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
	return m.Run(), nil
}

// settings of the server: quick, and not durable beyond the process.
var settings = map[string]string{
	"fsync":              "off",
	"full_page_writes":   "off",
	"synchronous_commit": "off",
	"max_connections":    "300",
	"autovacuum":         "off",
	"log_min_messages":   "log", // what the attacker's functions tell, and no errors
	"timezone":           "UTC",
}
