//go:build slow

package attack

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/programtest"
)

// TestPasswordsInTheOpen: pgtaskd warns of a password that other users of the machine can read, and
// shows it nowhere.
func TestPasswordsInTheOpen(t *testing.T) {
	t.Parallel()
	s, _ := single(t, "public.task", nil)
	s.configure(object{"remotes": object{"far": "host=127.0.0.1 port=1 user=x password=geheim"}})
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604, 0o600} {
		if err := os.Chmod(s.config, mode); err != nil {
			t.Fatal(err)
		}
		open := mode&0o044 != 0
		_, checked, _ := programtest.Shell(t, "", pgtaskd, "check", "--config", s.config)
		p := run(t, "--config", s.config)
		s.serve(attack{}, p, "with a password")
		p.stop(t)
		for what, text := range map[string]string{"run": p.Log.String(), "check": checked} {
			if warns(text) != open {
				t.Errorf("with mode %o, %s warns of the password: %t: %s", mode, what, !open, text)
			}
		}
	}
}

// TestPasswordAmongArguments: the same for arguments, which others see in the list of processes.
func TestPasswordAmongArguments(t *testing.T) {
	t.Parallel()
	s, table := single(t, "public.task", nil)
	s.exec(s.safe, "ALTER ROLE $o PASSWORD 'geheim'; GRANT CREATE ON SCHEMA public TO $o")
	p := run(t, fmt.Sprintf("host=127.0.0.1 port=%d user=%s password=geheim sslmode=disable dbname=%s", postgres.Port, s.roles["$o"], s.database))
	if _, led := p.says(s.logged(table), 0, servedIn, leading); !led || !warns(p.Log.String()) {
		t.Errorf("served: %t, warned of: %t", led, warns(p.Log.String()))
	}
}

// warns tells whether a text warns of a password without showing it.
func warns(text string) bool {
	if strings.Contains(text, "geheim") {
		return false
	}
	for line := range strings.Lines(text) {
		if strings.Contains(line, "password") && !strings.Contains(line, `"level":"info"`) {
			return true
		}
	}
	return false
}

// commanding tells whether every terminal obeys the character.
func commanding(r rune) bool { return r < ' ' || r == 0x7f }

// raw returns the characters of a text that a terminal may obey, or that change the order in which
// it shows the text.
func raw(text string) (found []rune) {
	for _, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)) {
			found = append(found, r)
		}
	}
	return found
}

// TestOddNames: check, log and errors escape names that would command a terminal.
func TestOddNames(t *testing.T) {
	t.Parallel()
	odd := []string{
		"a b'; DROP TABLE x; --", `back\slash "quote" %s%d%!`, "line\nbreak\ttab\r", "esc\x1b[2J\x1b]0;x\x07", "bidi\u202e\u2066x\u200f", "c1\u009b31m\u0085",
		"$ $x$ $_$", "ümläut ☃ 𝄞", "nul\\0", "line\u2028separator",
	}
	quoted := func(name string) string { return pgx.Identifier{name}.Sanitize() }
	s := newScene(t)
	s.database = fmt.Sprintf("%d a b'; \x1b[1m\n%%s\u202e\u009b\"$$\\", s.n)
	s.roles["$d"] = s.database
	s.exec(s.safe, "CREATE DATABASE $d")
	s.safe, s.user = s.connect(s.dsn("$p"), "pg_catalog"), s.connect(s.dsn("$p"), "public")
	s.targets = nil
	for i, name := range odd {
		placeholder, role := fmt.Sprint("odd ", i), fmt.Sprintf("%d %s", s.n, name)
		s.roles[placeholder] = role
		for _, sql := range []string{"CREATE ROLE " + quoted(role) + " LOGIN", "CREATE SCHEMA " + quoted(name) + " AUTHORIZATION " + quoted(role)} {
			if _, err := s.safe.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		s.targets = append(s.targets, &target{schema: name, table: name, role: placeholder})
	}
	s.configure(nil)
	said, faults, _ := programtest.Shell(t, "", pgtaskd, "check", "--config", s.config)
	p := run(t, "--config", s.config)
	s.serve(attack{}, p, "at the first start")
	p.stop(t)
	for _, target := range s.targets { // a role that is not the owner
		target.role = "$l"
	}
	s.configure(nil)
	again, more, _ := programtest.Shell(t, "", pgtaskd, "check", "--config", s.config)
	for what, text := range map[string]string{"check": said + faults + again + more, "the log": p.Log.String()} {
		found := raw(text)
		if what == "the log" { // programs read the log, and show it
			found = slices.DeleteFunc(found, func(r rune) bool { return !commanding(r) })
		}
		if slices.Sort(found); len(found) > 0 {
			t.Errorf("%s shows %U", what, slices.Compact(found))
		}
	}
}

// TestMadeForARole: a database that is made for a role does not belong to the role.
func TestMadeForARole(t *testing.T) {
	t.Parallel()
	s, table := single(t, "public.task", nil)
	role, database := fmt.Sprint("new_", s.n), fmt.Sprint("new_", s.n)
	s.roles["$o"], s.database = role, database
	table.role = "$o"
	s.configure(nil)
	p := run(t, "--config", s.config)
	if _, led := p.says(s.logged(table), 0, servedIn, leading); !led {
		t.Error("it is not served: ", p.Log.String())
	}
	if owner := s.get(s.safe, "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = '"+database+"'"); owner == role {
		t.Error("the database belongs to the role that it was made for")
	}
	p.stop(t)
}
