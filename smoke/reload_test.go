package smoke

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestReload: after SIGHUP the program reads the file again, serves new targets, and does not touch
// the others.
func TestReload(t *testing.T) {
	t.Parallel()
	s := own(t, object{})
	u := s.user(t)
	id := u.add("input", "'SELECT pg_sleep(3)'")
	u.becomes(id, "WORK")

	// A file that does not parse changes nothing.
	good, err := os.ReadFile(s.conf)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.conf, "{")
	s.program.Signal(t, syscall.SIGHUP)
	s.program.says(t, "line 1", 1)

	var conf object
	if err := json.Unmarshal(good, &conf); err != nil {
		t.Fatal(err)
	}
	conf["targets"] = append(conf["targets"].([]any), object{"data": s.name, "user": "postgres", "table": "second"})
	text, err := json.Marshal(conf)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.conf, string(text))
	s.program.Signal(t, syscall.SIGHUP)
	s.program.says(t, `"leading"`, 2)
	second := s.user(t)
	second.table = "second"
	second.becomes(second.add("input", "'SELECT 1'"), "DONE")
	u.shows(u.becomes(id, "DONE"), "attempt", "1")

	// A change needs no signal; the second target is drained.
	write(t, s.conf, string(good))
	s.program.says(t, `"drained"`, 1)
	u.becomes(u.add("input", "'SELECT 1'"), "DONE")
	if got := strings.Count(s.program.Log.String(), `"leading"`); got != 2 {
		t.Errorf("targets have been led %d times, want 2:\n%s", got, s.program.Log)
	}
}

// write replaces a file as editors do.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}
