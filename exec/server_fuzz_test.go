package exec

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/server/fake"
)

// FuzzServer makes a server send anything. The seeds are right conversations, whole or cut after
// some message.
func FuzzServer(f *testing.F) {
	for what := range conversations {
		right := recorded(f, what)
		f.Add(what, fake.Bytes(right))
		for i := len(right) / 4; i < len(right); i += max(len(right)/8, 1) {
			f.Add(what, append(fake.Bytes(right[:i]), fake.Bytes([]fake.Message{fake.Row(), fake.Columns(23), fake.Row([]byte("1"), nil), fake.Ready('X')})...))
			f.Add(what, append(fake.Bytes(right[:i]), fake.Failure("S", "FATAL", "C", "\xff", "M", "no", "P", "-1").Bytes()...))
			f.Add(what, append(fake.Bytes(right[:i]), fake.Message{Kind: 'D', Body: []byte{0xff, 0xff}}.Claiming(1<<31-1)...))
		}
	}
	f.Fuzz(func(t *testing.T, what string, said []byte) {
		if conversations[what] == nil {
			what = "tasks"
		}
		began := time.Now()
		if err := say(t, said, what); errors.Is(err, errNotStorable) || time.Since(began) > hostileMost {
			t.Errorf("%s: %v, after %s", what, err, time.Since(began))
		}
	})
}

// recorded returns a server's messages in a conversation, without the password proof, which differs
// each time.
func recorded(f *testing.F, what string) (all []fake.Message) {
	var mu sync.Mutex
	server, err := fake.Start(func(exchange fake.Exchange, right []fake.Message) fake.Answer {
		mu.Lock()
		defer mu.Unlock()
		if !slices.Contains([]fake.Exchange{fake.SASL, fake.Continue, fake.Final}, exchange) {
			all = append(all, right...)
		}
		return fake.Right(right)
	})
	if err != nil {
		f.Fatal(err)
	}
	err = converse(f.Context(), server.DSN()+" sslmode=disable", what, hostileMost)
	server.Stop()
	if err != nil {
		f.Fatal(what, err)
	}
	return all
}

// say has a conversation with a server that sends these bytes, ignores ours, and closes.
func say(t *testing.T, said []byte, what string) error {
	cfg, err := pgconn.ParseConfig("host=127.0.0.1 user=alice sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	cfg.MaxProtocolMessageBodyLen = 1 << 20 // so that the fuzzer does not allocate much memory
	cfg.DialFunc = func(context.Context, string, string) (net.Conn, error) { return &spoken{said: said}, nil }
	s, err := connect(t.Context(), cfg, time.Minute, len(said)%2 == 0, true)
	if err != nil {
		return err
	}
	s.cancel.obey = hostileLimit
	defer s.Close()
	return conversations[what](t.Context(), s)
}

// spoken is a connection whose bytes are all there from the start.
type spoken struct{ said []byte }

func (s *spoken) Read(p []byte) (int, error) {
	if len(s.said) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.said)
	s.said = s.said[n:]
	return n, nil
}

func (s *spoken) Write(p []byte) (int, error)      { return len(p), nil }
func (s *spoken) Close() error                     { return nil }
func (s *spoken) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (s *spoken) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (s *spoken) SetDeadline(time.Time) error      { return nil }
func (s *spoken) SetReadDeadline(time.Time) error  { return nil }
func (s *spoken) SetWriteDeadline(time.Time) error { return nil }
