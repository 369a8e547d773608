package work

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
	"pgtaskd/remote"
	"pgtaskd/server"
	"pgtaskd/server/servertest"
)

type said struct{ Level, Message, Error, Hint string }

func (s *stage) lines() (lines []said) {
	s.t.Helper()
	for text := range strings.Lines(s.logged()) {
		var line said
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			s.t.Fatal(text, err)
		}
		lines = append(lines, line)
	}
	return lines
}

// failure waits for the first failure in the log.
func (s *stage) failure() (line said) {
	s.t.Helper()
	s.until("a failure", func() bool {
		lines := s.lines()
		i := slices.IndexFunc(lines, func(l said) bool { return l.Level == "error" })
		if i >= 0 {
			line = lines[i]
		}
		return i >= 0
	})
	return line
}

// TestFailureAtTheStart: the error of the target's own login comes first, then the error of the
// dsn's user. No error concerns a user whom nobody has named.
func TestFailureAtTheStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		connect, admin remote.Settings
		create         bool
		errors         []string // in this order
		never          []string
		hint           string
	}{
		"database, the dsn names nobody": {
			connect: remote.Settings{"dbname": "nowhere_1"}, admin: remote.Settings{"user": ""}, create: true,
			errors: []string{`database "nowhere_1" does not exist`}, never: []string{"dsn's user", "root"},
			hint: fault.Hint(answerOf("3D000")),
		},
		"database, which the dsn leads to itself": {
			connect: remote.Settings{"dbname": "nowhere_2"}, admin: remote.Settings{"dbname": "nowhere_2"}, create: true,
			errors: []string{`database "nowhere_2" does not exist`},
			hint:   fault.Hint(answerOf("3D000")),
		},
		"database, not to be created": {
			connect: remote.Settings{"dbname": "nowhere_3"},
			errors:  []string{`database "nowhere_3" does not exist`}, never: []string{"dsn's user"}, hint: fault.Hint(answerOf("3D000")),
		},
		"role, and the dsn's user cannot connect": {
			connect: remote.Settings{"user": "first_of_all"}, admin: remote.Settings{"user": "second_of_all"}, create: true,
			errors: []string{`role "first_of_all" does not exist`, "the dsn's user, who creates what is missing, cannot connect", `role "second_of_all" does not exist`},
			hint:   fault.Hint(answerOf("28000")),
		},
		"role, the dsn names nobody": {
			connect: remote.Settings{"user": "third_of_all"}, admin: remote.Settings{"user": ""}, create: true,
			errors: []string{`role "third_of_all" does not exist`}, never: []string{"dsn's user"}, hint: fault.Hint(answerOf("28000")),
		},
		"login is not missing": {
			connect: remote.Settings{"user": "no_login"}, create: true,
			errors: []string{`role "no_login" is not permitted to log in`}, never: []string{"dsn's user"}, hint: fault.Hint(answerOf("28000")),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prepared(t, func(target *Target) {
				target.Create = c.create
				target.Connect, target.Admin = target.Connect.With(c.connect), target.Admin.With(c.admin)
			})
			if c.connect["user"] == "no_login" {
				s.exec("CREATE ROLE no_login")
			}
			s.serve()
			line := s.failure()
			if line.Hint != c.hint {
				t.Errorf("the hint is %q", line.Hint)
			}
			report := Check(t.Context(), s.target)
			for _, text := range []string{line.Error, strings.Join(report.Faults, "; ")} {
				rest := text
				for _, part := range c.errors {
					_, after, found := strings.Cut(rest, part)
					if !found {
						t.Errorf("%q does not come in its place: %s", part, text)
					}
					rest = after
				}
				for _, part := range c.never {
					if strings.Contains(text, part) {
						t.Errorf("%q is said: %s", part, text)
					}
				}
			}
			if len(report.Faults) == 0 || !strings.Contains(report.Faults[0], "("+c.hint+")") {
				t.Errorf("check gives no hint: %q", report.Faults)
			}
		})
	}
}

// TestLocksThatFillTheServerAreNamed: anyone who can connect can take all locks that the server has
// room for. The hint must not blame a lack of memory.
func TestLocksThatFillTheServerAreNamed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return
	}
	own := servertest.New(t, server.Options{Settings: map[string]string{
		"max_locks_per_transaction": "10", "max_connections": "20", "max_prepared_transactions": "0",
	}})
	s := stageOn(t, own.DSN("postgres"), deaf)
	s.exec("CREATE ROLE stranger LOGIN")
	stranger := servertest.Connect(t, s.dsn+" user=stranger")
	const full = "the server's table of locks is full"
	const fill = "SELECT pg_advisory_lock(i) FROM generate_series(1, 1000000) AS i"
	if _, err := stranger.Exec(t.Context(), fill); !fault.Has(err, "53200") {
		t.Fatal(err)
	}
	s.serve()
	if line := s.failure(); !strings.Contains(line.Error, "out of shared memory") || !strings.Contains(line.Hint, full) {
		t.Error(line)
	}
	servertest.Exec(t, stranger, "SELECT pg_advisory_unlock_all()")
	s.settled()
	if memory := fault.Hint(&pgconn.PgError{Code: "53200"}); strings.Contains(memory, full) {
		t.Errorf("of memory: %s", memory)
	}
}

// TestTakenAwayIsAWarning: a dropped object is logged as a warning, not as information.
func TestTakenAwayIsAWarning(t *testing.T) {
	t.Parallel()
	s := play(t)
	for _, line := range s.lines() {
		if line.Level != "info" {
			t.Errorf("at the first start: %+v", line)
		}
	}
	s.exec("DROP TRIGGER pgtaskd_accept ON task")
	s.until("a warning", func() bool {
		return slices.ContainsFunc(s.lines(), func(l said) bool {
			return l.Level == "warn" && strings.Contains(l.Message, "trigger pgtaskd_accept")
		})
	})
}

// TestATriggerThatNeedsAPathIsNamed: the task table is not to blame for what the trigger lacks.
func TestATriggerThatNeedsAPathIsNamed(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.exec(`CREATE TABLE ddl_log (tag text);
		CREATE FUNCTION log_ddl() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO ddl_log VALUES (tg_tag); END';
		CREATE EVENT TRIGGER log_ddl ON ddl_command_end EXECUTE FUNCTION log_ddl()`)
	s.serve()
	line := s.failure()
	if want := "PL/pgSQL function public.log_ddl() line 1 at SQL statement"; !strings.Contains(line.Error, "ddl_log") ||
		!strings.HasPrefix(line.Hint, want) || !strings.Contains(line.Hint, "ALTER FUNCTION … SET search_path") {
		t.Errorf("%+v", line)
	}
	s.exec("ALTER FUNCTION log_ddl() SET search_path TO public")
	s.settled()
}

// TestAPoolerIsToldFromAServer: by its answer to the settings of our sessions.
func TestAPoolerIsToldFromAServer(t *testing.T) {
	t.Parallel()
	err := &pgconn.PgError{Severity: "FATAL", Code: "08P01", Message: "unsupported startup parameter: row_security"}
	if hint := fault.Hint(err); !strings.Contains(hint, "not to a pooler") {
		t.Error(hint)
	}
	if hint := fault.Hint(&pgconn.PgError{Code: "08P01", Message: "invalid message format"}); hint != "" {
		t.Error(hint)
	}
}

func answerOf(code string) error { return &pgconn.PgError{Severity: "ERROR", Code: code} }

// TestRefusalsOfLoginsAreToldApart: by the server's routine, or the kind of error of TLS.
func TestRefusalsOfLoginsAreToldApart(t *testing.T) {
	t.Parallel()
	refused := func(code, routine, message string) error {
		return fmt.Errorf("cannot connect: %w", &pgconn.PgError{Severity: "FATAL", Code: code, Routine: routine, Message: message})
	}
	for want, err := range map[string]error{
		"the role must exist and have LOGIN":                     refused("28000", "InitializeSessionUserId", `role "a" does not exist`),
		"the server says the same of a role that does not exist": refused("28P01", "auth_failed", "password authentication failed"),
		"pg_hba.conf must let the role into this database":       refused("28000", "ClientAuthentication", `no pg_hba.conf entry for host "h", user "a", database "d", SSL encryption`),
		"sslmode=require in the dsn":                             refused("28000", "ClientAuthentication", `no pg_hba.conf entry for host "h", user "a", database "d", no encryption`),
		"pg_ident.conf":                                          refused("28000", "auth_failed", "Peer authentication failed"),
		"sslrootcert in the dsn must name":                       fmt.Errorf("cannot connect: %w", x509.UnknownAuthorityError{}),
		"connect to one of them":                                 fmt.Errorf("cannot connect: %w", x509.HostnameError{}),
		"needs another certificate":                              fmt.Errorf("cannot connect: %w", x509.CertificateInvalidError{Reason: x509.Expired}),
		"the server has no TLS":                                  errors.New("h: tls error: server refused TLS connection"),
	} {
		if hint := fault.Hint(err); !strings.Contains(hint, want) || strings.Contains(hint, "LOGIN") != strings.Contains(want, "LOGIN") {
			t.Errorf("%v: %q", err, hint)
		}
	}
}
