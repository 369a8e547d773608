package exec

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"testing"
	"testing/iotest"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
)

func TestWatchPassword(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, server.Options{
		Settings: map[string]string{"password_encryption": "scram-sha-256"},
		HBA: []string{
			"local all scram scram-sha-256",
			"local all clear password",
			"local all md5 md5",
			"local all trusted trust",
		},
	})
	open := func(cfg *pgconn.Config) *pgconn.PgConn {
		conn, err := pgconn.ConnectConfig(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		return conn
	}
	query := func(conn *pgconn.PgConn, sql string) {
		if _, err := conn.Exec(t.Context(), sql).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	parse := func(dsn string) *pgconn.Config {
		cfg, err := pgconn.ParseConfig(dsn)
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}

	query(open(parse(s.DSN("postgres"))), `CREATE ROLE scram LOGIN PASSWORD 'x'; CREATE ROLE clear LOGIN PASSWORD 'x';
		CREATE ROLE trusted LOGIN PASSWORD 'x'; SET password_encryption = md5; CREATE ROLE md5 LOGIN PASSWORD 'x'`)
	for user, want := range map[string]bool{"scram": true, "clear": true, "md5": true, "trusted": false} {
		cfg := parse(s.DSN("postgres") + " password=x user=" + user)
		asked := WatchPassword(cfg)
		if asked() {
			t.Errorf("%s: asked before there was a connection", user)
		}
		conn := open(cfg)
		if asked() != want {
			t.Errorf("%s: asked is %v", user, asked())
		}
		// The rest of the connection is untouched, whatever it carries.
		query(conn, "SELECT repeat('x', 1000000)")
		if asked() != want {
			t.Errorf("%s: asked has become %v", user, asked())
		}
	}
}

// A first attempt that was asked for the password says nothing about the second.
func TestWatchPasswordSpeaksOfTheLastAttempt(t *testing.T) {
	t.Parallel()
	cfg, err := pgconn.ParseConfig("host=/nowhere")
	if err != nil {
		t.Fatal(err)
	}
	asked := WatchPassword(cfg)
	attempt := func(from []byte) {
		frontend := cfg.BuildFrontend(bytes.NewReader(from), io.Discard)
		for range 2 {
			if _, err := frontend.Receive(); err != nil {
				t.Fatal(err)
			}
		}
	}
	attempt(append(fromServer('R', 3), fromServer('R', 0)...))
	if !asked() {
		t.Error("the first attempt was asked")
	}
	attempt(append(fromServer('R', 0), fromServer('R', 3)...))
	if asked() {
		t.Error("the second was not asked before it was let in")
	}
}

func TestSnifferInPieces(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		sent []byte
		want bool
	}{
		{"cleartext", fromServer('R', 3), true},
		{"md5 with salt", fromServer('R', 5, 1234), true},
		{"sasl after a notice", append(fromServer('N', 3, 3), fromServer('R', 10, 0x41414141)...), true},
		{"gss", fromServer('R', 7), false},
		{"let in, then rows that look alike", append(fromServer('R', 0), fromServer('R', 3)...), false},
		{"refused", append(fromServer('E', 3), fromServer('R', 3)...), false},
		{"cut short", fromServer('R', 3)[:8], false},
		{"nonsense", append([]byte{'R', 0, 0, 0, 0}, fromServer('R', 3)...), false},
		{"too long", append([]byte{'R', 0xff, 0xff, 0xff, 0xff}, fromServer('R', 3)...), false},
	}
	for _, c := range cases {
		for _, from := range []io.Reader{bytes.NewReader(c.sent), iotest.OneByteReader(bytes.NewReader(c.sent))} {
			s := &sniffer{from: from}
			got, err := io.ReadAll(s)
			if err != nil || !bytes.Equal(got, c.sent) {
				t.Errorf("%s: %x, %v has come through of %x", c.name, got, err, c.sent)
			}
			if s.asked != c.want {
				t.Errorf("%s: asked is %v", c.name, s.asked)
			}
		}
	}
}

// fromServer is one of the protocol, with numbers for a body.
func fromServer(kind byte, body ...uint32) []byte {
	sent := binary.BigEndian.AppendUint32([]byte{kind}, uint32(4+4*len(body)))
	for _, number := range body {
		sent = binary.BigEndian.AppendUint32(sent, number)
	}
	return sent
}
