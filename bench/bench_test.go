package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgtaskd/bench/riverclient"
	"pgtaskd/server/servertest"
)

// The test binary is also River's program.
func TestMain(m *testing.M) {
	if os.Getenv(riverclient.Env) != "" {
		main()
		return
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else River's program takes a second to end
	servertest.Main(m)
}

// least is enough to see that the bench measures something.
var least = effort{
	rounds: 1, atLeast: 50 * time.Millisecond, both: true, turns: 1, samples: 3, watched: 50 * time.Millisecond,
	due: 200, load: load{finished: 200, later: 100, changes: 100}, targets: 3,
}

// TestRows measures two builds, and one row of each kind, with the least effort: the work must have
// happened. Then a backlog that fails. Not parallel: there can be only one profile at a time.
func TestRows(t *testing.T) {
	o := options{profile: filepath.Join(t.TempDir(), "cpu"), statements: true}
	var out strings.Builder
	s, err := openStand(t.Context(), o, least, &out, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}()
	s.only = regexp.MustCompile("remote")
	if err := s.compare(t.Context(), s.controller); err != nil {
		t.Fatal(err)
	}
	wanted := regexp.MustCompile(`INSERT|idle|due|finished`)
	var figures table
	for _, row := range rows(least) {
		if !wanted.MatchString(row.title()) {
			continue
		}
		round, err := row.measure(t.Context(), s)
		if err != nil {
			t.Fatalf("%s: %v", row.title(), err)
		}
		for _, f := range round {
			if f.unit != "%" && f.value <= 0 || f.unit == "" && f.peer <= 0 {
				t.Errorf("got %+v", f)
			}
		}
		figures.add(round)
	}
	if err := figures.print(&out, s.machine(t.Context())); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"INSERT of a row", "remote", "p99", "memory, 200 due", "3 idle targets", "PostgreSQL 1", "WAL bytes/call", "WAL bytes a task"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%q is not in\n%s", part, out.String())
		}
	}
	b := backlog{input: "SELECT 1/0", output: "1", lanes: 1}
	if _, err := b.serve(t.Context(), s, 1); err == nil || !strings.Contains(err.Error(), "FAIL ERROR:  division by zero") {
		t.Errorf("got %v, want the task's error", err)
	}
}

// TestOtherPrograms: a controller that ends by itself, and River on the same server.
func TestOtherPrograms(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	s, err := openStand(t.Context(), options{program: program}, effort{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}()
	b := backlog{input: "SELECT 1", output: "1", lanes: 1}
	if _, err := b.serve(t.Context(), s, 1); !errors.Is(err, errEnded) {
		t.Errorf("got %v", err)
	}
	river, err := s.atRiver(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range besideRiver() {
		if took, err := row.(*beside).jobs.serve(t.Context(), river, 100); err != nil || took <= 0 {
			t.Errorf("%s: %s, %v", row.title(), took, err)
		}
	}
}

func TestRefusedArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"quick"}, {"-only", "("}, {"-cpuprofile", "a", "-pgtaskd", "b"}, {"-no"}, {"-river", "-other", "a"}, {"-pairs", "0"}} {
		if err := run(t.Context(), args, &strings.Builder{}, &strings.Builder{}); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
}

func TestTPS(t *testing.T) {
	t.Parallel()
	outs := []string{
		"latency average = 0.4 ms\ninitial connection time = 21.5 ms\ntps = 1234.5 (without initial connection time)\n",
		"tps = 1000.1 (including connections establishing)\ntps = 1234.5 (excluding connections establishing)\n",
	}
	for _, out := range outs {
		if tps, err := parseTPS(out); err != nil || tps != 1234.5 {
			t.Errorf("got %v, %v of %q", tps, err, out)
		}
	}
	if _, err := parseTPS("pgbench: error\n"); !errors.Is(err, errNoTPS) {
		t.Errorf("got %v", err)
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	aimed := []figure{{value: 2, peer: 1, bar: 0.8, aim: 0.95}}
	cheap, dear := cost{program: 9100, server: 30400}, cost{program: 12 * time.Microsecond, server: time.Millisecond}
	rates := []figure{
		{value: 30, peer: 100, bar: 0.25, cost: cheap, peerCost: dear},
		{value: 60, peer: 100, bar: 0.25, cost: dear, peerCost: dear},
		{value: 80, peer: 400, bar: 0.25, cost: cheap, peerCost: cheap},
	}
	times := []figure{{value: 3, unit: "ms", bar: 2}, {value: 2, unit: "ms", bar: 2}}
	cases := []struct {
		rounds []figure
		want   string
	}{
		{rates, "| 60/s\t| 100/s\t| 0.300\t| 0.200–0.600\t| ≥ 0.25\t| 9 + 30\t| 12 + 1000\t|"},
		{rates[2:], "| 80/s\t| 400/s\t| 0.200\t| 0.200–0.200\t| ≥ 0.25 missed\t| 9 + 30\t| 9 + 30\t|"},
		{aimed, "| 2/s\t| 1/s\t| 2.000\t| 2.000–2.000\t| ≥ 0.80 (0.95)\t| \t| \t|"},
		{times, "| 2.50 ms\t|\t|\t| 2.00–3.00\t| ≤ 2 missed\t| \t|\t|"},
		{times[1:], "| 2.00 ms\t|\t|\t| 2.00–2.00\t| ≤ 2\t| \t|\t|"},
	}
	for _, c := range cases {
		for range 2 { // in either order
			if got := line(c.rounds); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			slices.Reverse(c.rounds)
		}
	}
}

func TestPairs(t *testing.T) {
	t.Parallel()
	spent := reading{30 * time.Microsecond, 90 * time.Microsecond, 1500}.per(reading{10 * time.Microsecond, 30 * time.Microsecond, 500}, 2)
	if spent != (cost{10 * time.Microsecond, 30 * time.Microsecond, 500}) {
		t.Errorf("got %+v", spent)
	}
	pairs := []pair{{sample{30, spent}, sample{10, spent}}, {sample{10, spent}, sample{10, spent}}, {sample{10, spent}, sample{20, spent}}, {sample{20, spent}, sample{10, spent}}}
	for i, want := range []string{"1.500 (0.500–3.000)", "1.000 (1.000–1.000)"} {
		if got := ratio(pairs, quantities[i].of); got != want {
			t.Errorf("%s: got %s, want %s", quantities[i].name, got, want)
		}
	}
	if got := ratio([]pair{{}}, quantities[0].of); got != "" {
		t.Errorf("got %s of nothing", got)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("got %s of %d", got, n)
		}
	}
}
