package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// peer is a run of pgbench, which sends each statement of its script by the simple protocol and
// awaits the answer.
type peer struct {
	script  string
	clients int
	writes  bool // it updates rows that are made for it, each once
}

// tps is pgbench's transactions per second, with so many threads, on a table that is as good as
// new.
func (p peer) tps(ctx context.Context, s *stand, threads int) (float64, error) {
	perClient := s.seconds() * 1000 // rows, more than a client has ever got through
	if err := s.empty(ctx); err != nil {
		return 0, err
	}
	if p.writes {
		if _, err := s.db.conn.Exec(ctx, text("refill.sql"), perClient*p.clients); err != nil {
			return 0, err
		}
	}
	return s.pgbench(ctx, s.seconds(), p.script, p.clients, threads, fmt.Sprintf("per_client=%d", perClient),
		fmt.Sprintf("clients=%d", p.clients), "n=0")
}

// seconds is how long pgbench runs.
func (s *stand) seconds() int { return max(1, int(s.atLeast.Seconds()+0.5)) }

// threads is how many pgbench can make use of.
func threads(clients int) int { return min(clients, runtime.NumCPU()) }

// pgbench runs for so many seconds and returns its transactions per second, without the time to
// connect, and notes the cost of each, with connecting. A checkpoint comes before.
func (s *stand) pgbench(ctx context.Context, seconds int, script string, clients, threads int, variables ...string) (float64, error) {
	if err := s.db.execute(ctx, "CHECKPOINT"); err != nil {
		return 0, err
	}
	args := []string{
		"--no-vacuum", "--protocol", "simple", "--file", "-",
		"--host", s.server.SocketDir, "--port", strconv.Itoa(s.server.Port), "--username", "postgres",
		"--client", strconv.Itoa(clients), "--jobs", strconv.Itoa(threads), "--time", strconv.Itoa(seconds),
	}
	for _, variable := range variables {
		args = append(args, "--define", variable)
	}
	cmd := exec.CommandContext(ctx, pgbench(s.server.Bindir), append(args, s.db.name)...)
	cmd.Stdin = strings.NewReader(text(script))
	before, err := s.read(ctx, nil)
	if err != nil {
		return 0, err
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("pgbench: %w\n%s", err, out)
	}
	after, err := s.read(ctx, nil)
	if err != nil {
		return 0, err
	}
	after.program = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	tps, err := parseTPS(string(out))
	s.cost = after.per(before, int(tps*float64(seconds)))
	return tps, err
}

// pgbench stands beside the server's other programs, but on some systems only on the PATH.
func pgbench(bindir string) string {
	if path, err := exec.LookPath(filepath.Join(bindir, "pgbench")); err == nil {
		return path
	}
	return "pgbench"
}

var tpsLine = regexp.MustCompile(`(?m)^tps = ([0-9.]+)`)

var errNoTPS = errors.New("pgbench said nothing of tps")

// parseTPS takes the last line of its kind: before version 14 the one that counts connecting comes
// first.
func parseTPS(out string) (float64, error) {
	found := tpsLine.FindAllStringSubmatch(out, -1)
	if len(found) == 0 {
		return 0, fmt.Errorf("%w:\n%s", errNoTPS, out)
	}
	return strconv.ParseFloat(found[len(found)-1][1], 64)
}
