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

// peer is a run of pgbench. pgbench sends each statement of its script by the simple protocol and
// waits for the answer.
type peer struct {
	script  string
	clients int
	writes  bool // it updates rows made for it, each once
}

// tps returns pgbench's transactions per second with this many threads, on a table as good as new.
func (p peer) tps(ctx context.Context, s *stand, threads int) (float64, error) {
	perClient := s.seconds() * 1000 // rows; no client has ever used up so many
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

// seconds returns how long pgbench runs.
func (s *stand) seconds() int { return max(1, int(s.atLeast.Seconds()+0.5)) }

// threads returns how many threads pgbench can use.
func threads(clients int) int { return min(clients, runtime.NumCPU()) }

// pgbench runs for this many seconds, after a checkpoint. It returns the transactions per second
// without connecting, and records the cost of each with connecting.
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

// pgbench returns the path of the program. It is beside the server's other programs, or on some
// systems only on the PATH.
func pgbench(bindir string) string {
	if path, err := exec.LookPath(filepath.Join(bindir, "pgbench")); err == nil {
		return path
	}
	return "pgbench"
}

var tpsLine = regexp.MustCompile(`(?m)^tps = ([0-9.]+)`)

var errNoTPS = errors.New("pgbench said nothing of tps")

// parseTPS reads the last matching line: before version 14 the line that includes connecting is
// first.
func parseTPS(out string) (float64, error) {
	found := tpsLine.FindAllStringSubmatch(out, -1)
	if len(found) == 0 {
		return 0, fmt.Errorf("%w:\n%s", errNoTPS, out)
	}
	return strconv.ParseFloat(found[len(found)-1][1], 64)
}
