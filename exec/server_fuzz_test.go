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

// FuzzServer has a server say anything: seeds are what it says when it is right, in whole or from
// some message on broken off.
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

// recorded is what a server says in a conversation, but for the proof of the password, which is
// another each time.
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

// say has a conversation with a server that says all of this, whatever it hears, and goes.
func say(t *testing.T, said []byte, what string) error {
	cfg, err := pgconn.ParseConfig("host=127.0.0.1 user=alice sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	cfg.MaxProtocolMessageBodyLen = 1 << 20 // or the fuzzer is busy with memory
	cfg.DialFunc = func(context.Context, string, string) (net.Conn, error) { return &spoken{said: said}, nil }
	s, err := connect(t.Context(), cfg, time.Minute, len(said)%2 == 0, true)
	if err != nil {
		return err
	}
	s.cancel.obey = hostileLimit
	defer s.Close()
	return conversations[what](t.Context(), s)
}

// spoken is a connection on which all has been said.
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
