package remote

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

func TestServerMustAskForThePassword(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, server.Options{HBA: []string{"local all asked scram-sha-256"}})
	own, err := Parse(s.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := Own(own)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := pgconn.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Exec(t.Context(), "CREATE ROLE asked LOGIN PASSWORD 'p'; CREATE ROLE trusted LOGIN PASSWORD 'p'").ReadAll(); err != nil {
		t.Fatal(err)
	}
	if err := admin.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	base, err := Complete(own)
	if err != nil {
		t.Fatal(err)
	}

	cases := []struct {
		rules   Rules
		remote  string
		refused bool
	}{
		{Rules{Base: base}, "user=asked password=p", false},
		{Rules{Base: base}, "user=asked password=p target_session_attrs=read-write", false},
		{Rules{Base: base}, "user=trusted password=p", true},
		{Rules{Base: base}, "user=postgres password=p", true},
		{Rules{Base: base, Superuser: true}, "user=trusted", false},
		{Rules{Base: base, Named: map[string]string{"a": "user=trusted"}}, "a", false},
	}
	// The other settings of the string still count.
	d, err := Rules{Base: base}.Resolve("user=asked password=p target_session_attrs=standby")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Connect(t.Context(), "pg_task", time.Minute); !errors.Is(err, pgconn.ErrPrimaryConnection) {
		t.Errorf("target_session_attrs: %v", err)
	}
	for _, c := range cases {
		d, err := c.rules.Resolve(c.remote)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // each connection is checked
			session, err := d.Connect(t.Context(), "pg_task", time.Minute)
			var refused *Refused
			if got := errors.As(err, &refused); got != c.refused || err != nil && !got {
				t.Errorf("%s: %v", c.remote, err)
			}
			if session != nil {
				session.Close()
			}
		}
	}
}

func TestConnect(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	base, err := Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	observer, err := pgconn.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = observer.Close(context.Background()) }()

	for remote, want := range map[string]string{"client_encoding=latin1": "pg_task", "application_name=own": "own"} {
		d, err := Rules{Base: base, Superuser: true}.Resolve(remote)
		if err != nil {
			t.Fatal(err)
		}
		session, err := d.Connect(t.Context(), "pg_task", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		result := observer.ExecParams(t.Context(), "SELECT application_name FROM pg_stat_activity WHERE pid = $1",
			[][]byte{[]byte(strconv.Itoa(int(session.PID)))}, nil, nil, nil).Read()
		if result.Err != nil || len(result.Rows) != 1 || string(result.Rows[0][0]) != want {
			t.Errorf("%s: session is called %q, %v", remote, result.Rows, result.Err)
		}
		session.Close()
	}
}
