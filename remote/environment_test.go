package remote

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// bare gives the test an empty home and no libpq variables.
func bare(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("PGSERVICEFILE", "")
	for variable := range variables {
		t.Setenv(variable, "")
	}
	return home
}

func TestComplete(t *testing.T) {
	home := bare(t)
	write(t, filepath.Join(home, ".pgpass"), "a:5432:d:u:from file\nlocalhost:5433:*:*:of socket\n")
	services := "[s]\nhost=a\nport=5432\ndbname=d\nuser=u\n[bad]\nnonsense=1\n[port]\nport=x\n"
	write(t, filepath.Join(home, ".pg_service.conf"), services)
	passfile := filepath.Join(home, ".pgpass")

	cases := []struct {
		name        string
		environment map[string]string
		given, want Settings
	}{
		{
			"what is given stays", nil,
			Settings{"host": "b", "port": "1", "user": "u", "dbname": "d", "password": "p", "options": "-c a=b"},
			Settings{"host": "b", "port": "1", "user": "u", "dbname": "d", "password": "p", "options": "-c a=b"},
		},
		{
			"the database is named after the user", nil,
			Settings{"host": "b", "user": "u"},
			Settings{"host": "b", "port": "5432", "user": "u", "dbname": "u"},
		},
		{
			"environment",
			map[string]string{
				"PGHOST": "b", "PGUSER": "v", "PGPASSWORD": "p", "PGSSLMODE": "require", "PGCONNECT_TIMEOUT": "9", "PGTZ": "Asia/Tokyo",
			},
			Settings{"user": "u"},
			Settings{
				"host": "b", "port": "5432", "user": "u", "dbname": "u", "password": "p", "connect_timeout": "9", "sslmode": "require",
			},
		},
		{
			"what is given as empty shadows the environment",
			map[string]string{"PGOPTIONS": "-c a=b", "PGHOST": "b"},
			Settings{"user": "u", "options": ""},
			Settings{"host": "b", "port": "5432", "user": "u", "dbname": "u", "options": ""},
		},
		{
			"password file", nil,
			Settings{"host": "a", "user": "u", "dbname": "d"},
			Settings{"host": "a", "port": "5432", "user": "u", "dbname": "d", "password": "from file"},
		},
		{
			"service over environment",
			map[string]string{"PGHOST": "b", "PGAPPNAME": "x"},
			Settings{"service": "s"},
			Settings{"host": "a", "port": "5432", "user": "u", "dbname": "d", "password": "from file", "application_name": "x"},
		},
		{
			"what is given over service", nil,
			Settings{"service": "s", "host": "/run", "port": "5433"},
			Settings{"host": "/run", "port": "5433", "user": "u", "dbname": "d", "password": "of socket"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for variable, value := range c.environment {
				t.Setenv(variable, value)
			}
			got, err := Complete(c.given)
			if err != nil {
				t.Fatal(err)
			}
			if want := c.want.With(Settings{"passfile": passfile}); !equal(got, want) {
				t.Errorf("got %s, want %s", got.String(), want.String())
			}
			cfg, err := Own(c.given)
			if err != nil {
				t.Fatal(err)
			}
			if cfg.Host != got["host"] || cfg.User != got["user"] || cfg.Password != got["password"] {
				t.Errorf("Own connects to %s as %s", cfg.Host, cfg.User)
			}
		})
	}

	for says, given := range map[string]Settings{
		"no such service": {"service": "x"}, "unknown keyword": {"service": "bad"},
		"between 1 and 65535": {"service": "port"}, "can't be read": {"service": "s", "servicefile": "/nowhere"},
	} {
		_, err := Complete(given)
		var refused *Refused
		if !errors.As(err, &refused) || !strings.Contains(refused.Message+refused.Private, says) {
			t.Errorf("%v: %v", given, err)
		}
	}
}

// equal treats an empty value like a missing one.
func equal(a, b Settings) bool { return maps.Equal(Settings{}.With(a), Settings{}.With(b)) }

// TestServiceOfTheEnvironment starts a process: PGSERVICE is read only at the start.
func TestServiceOfTheEnvironment(t *testing.T) {
	const inner = "PGTASKD_TEST_SERVICE"
	if os.Getenv(inner) == "" {
		file := filepath.Join(t.TempDir(), "services")
		write(t, file, "[s]\nhost=a\nuser=u\noptions=-c a=b\n")
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServiceOfTheEnvironment$", "-test.v")
		cmd.Env = append(os.Environ(), inner+"=1", "PGSERVICE=s", "PGSERVICEFILE="+file)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}

	base, err := Complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	if base["host"] != "a" || base["user"] != "u" || base["options"] != "-c a=b" {
		t.Errorf("own connection: %v", base)
	}
	t.Setenv("PGSERVICEFILE", "/nowhere") // reading the service file now would fail
	d, err := Rules{Base: Settings{"host": "b", "user": "v"}}.Resolve("password=p")
	if err != nil {
		t.Fatal(err)
	}
	if cfg := d.config; cfg.Host != "b" || cfg.User != "v" || len(cfg.RuntimeParams) > 0 {
		t.Errorf("remote: %s as %s with %v", cfg.Host, cfg.User, cfg.RuntimeParams)
	}
}
