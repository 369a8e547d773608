//go:build slow

package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestGrowth(t *testing.T) {
	t.Parallel()
	o := options{growth: t.TempDir(), only: regexp.MustCompile("rows|targets")}
	var out strings.Builder
	s, err := openStand(t.Context(), o, effort{rounds: 1, atLeast: 50 * time.Millisecond, largest: 2}, &out, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.grow(t.Context()), s.close()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rows", "targets"} {
		plot, err := os.ReadFile(filepath.Join(o.growth, name+".svg"))
		if err != nil || !strings.Contains(string(plot), "tasks/s") {
			t.Errorf("%v, %s", err, plot)
		}
	}
	for _, step := range []string{"\n| 10,000 ", "\n| 2 "} {
		if !strings.Contains(out.String(), step) {
			t.Errorf("%q is not in\n%s", step, out.String())
		}
	}
}
