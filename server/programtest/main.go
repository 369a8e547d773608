package programtest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	"pgtaskd/server"
)

// Stand has the program and the server that the tests of a package share.
type Stand struct {
	Program  string         // path of the program
	Postgres *server.Server // shared by all tests
	Folder   string         // removed at the end
}

// Main is for TestMain. It builds the program, starts a server with these settings, lets run run
// the tests (parallel of them at once), cleans up, and exits.
func Main(parallel int, race bool, settings map[string]string, run func(context.Context, Stand) (code int, err error)) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(parallel)); err != nil {
		panic(err)
	}
	code, err := stand(race, settings, run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func stand(race bool, settings map[string]string, run func(context.Context, Stand) (int, error)) (code int, err error) {
	var s Stand
	if s.Folder, err = os.MkdirTemp("", "pgtaskd-test-"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(s.Folder)
	if s.Program, err = Build(s.Folder, race); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if s.Postgres, err = server.Start(ctx, server.Options{Settings: settings}); err != nil {
		return 0, err
	}
	defer func() {
		if stopped := s.Postgres.Stop(); err == nil {
			err = stopped
		}
	}()
	return run(ctx, s)
}
