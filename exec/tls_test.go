package exec

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/server/servertest"
)

// A server can make a read of TLS write: it asks for new keys, or sends bytes that cause an alert.
// If the server reads nothing, that write ends only with the connection.

// deaf is a connection under TLS. Its server reads nothing after is is set.
type deaf struct {
	*net.TCPConn
	is   atomic.Bool
	full net.Conn // takes the writes after that
}

func (d *deaf) Write(p []byte) (int, error) {
	if d.is.Load() {
		return d.full.Write(p)
	}
	return d.TCPConn.Write(p)
}

func (d *deaf) SetDeadline(t time.Time) error {
	return errors.Join(d.full.SetDeadline(t), d.TCPConn.SetDeadline(t))
}

func (d *deaf) SetWriteDeadline(t time.Time) error {
	return errors.Join(d.full.SetWriteDeadline(t), d.TCPConn.SetWriteDeadline(t))
}

func (d *deaf) Close() error { return errors.Join(d.full.Close(), d.TCPConn.Close()) }

// secured returns a session with TLS, the connection under it, the reading end of the writes once
// that is deaf, and a function that makes the server send bytes that are no TLS.
func secured(t *testing.T, dsn string) (s *Session, under *deaf, end net.Conn, garble func()) {
	t.Helper()
	cfg, err := pgconn.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	network, address := pgconn.NetworkAddress(cfg.Host, cfg.Port)
	listener, raw := securely(t, network, address)
	cfg.TLSConfig, cfg.Fallbacks = &tls.Config{InsecureSkipVerify: true}, nil //nolint:gosec // it is our own server
	cfg.RuntimeParams["client_encoding"] = "UTF8"
	cfg.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", listener.Addr().String())
		if err != nil || under != nil { // later connections are for cancel requests
			return conn, err
		}
		under = &deaf{TCPConn: conn.(*net.TCPConn)}
		under.full, end = net.Pipe()
		return under, nil
	}
	if s, err = Connect(t.Context(), cfg, 10*time.Second, true, true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = under.Close() })
	server := <-raw
	return s, under, end, func() {
		if _, err := server.Write(append([]byte{23, 3, 3, 0, 32}, make([]byte, 32)...)); err != nil {
			t.Error(err)
		}
	}
}

// securely listens with TLS before a server without TLS, and returns the connections under it.
func securely(t *testing.T, network, address string) (net.Listener, <-chan net.Conn) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	own := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}}, MinVersion: tls.VersionTLS13}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	all := make(chan net.Conn, 10)
	go func() {
		for {
			raw, err := listener.Accept()
			if err != nil {
				return
			}
			all <- raw
			go relay(raw, own, network, address)
		}
	}()
	return listener, all
}

func relay(raw net.Conn, own *tls.Config, network, address string) {
	defer func() { _ = raw.Close() }()
	if _, err := io.ReadFull(raw, make([]byte, 8)); err != nil { // the request for TLS
		return
	}
	if _, err := raw.Write([]byte("S")); err != nil {
		return
	}
	server, err := net.Dial(network, address)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	client := tls.Server(raw, own)
	go func() { _, _ = io.Copy(client, server); _ = raw.Close() }()
	_, _ = io.Copy(server, client)
}

// TestASessionIsAbandonedThoughTheServerReadsNothing: even in the middle of a write under TLS.
func TestASessionIsAbandonedThoughTheServerReadsNothing(t *testing.T) {
	t.Parallel()
	s, under, end, garble := secured(t, servertest.Database(t))
	task := spec("SELECT pg_sleep(600)")
	if _, _, err := s.Begin(nil, task); err != nil {
		t.Fatal(err)
	}
	awaited, abandoned := make(chan error, 1), make(chan bool)
	go func() { _, err := s.Await(task); awaited <- err }()
	under.is.Store(true)
	garble()
	if _, err := io.ReadFull(end, make([]byte, 1)); err != nil { // the session is now in that write
		t.Fatal(err)
	}
	go func() { s.Abandon(); close(abandoned) }()
	limit := time.After(servertest.Limit(10 * time.Second))
	select {
	case <-abandoned:
	case <-limit:
		t.Fatal("it is still being abandoned")
	}
	select {
	case err := <-awaited:
		if !errors.As(err, new(*Lost)) {
			t.Error(err)
		}
	case <-limit:
		t.Error("its task is awaited still")
	}
	s.Close()
}

// TestCloseIsShortThoughTheServerReadsNothing: TLS alone would wait for five seconds.
func TestCloseIsShortThoughTheServerReadsNothing(t *testing.T) {
	t.Parallel()
	s, under, _, _ := secured(t, servertest.Database(t))
	under.is.Store(true)
	began := time.Now()
	s.Close()
	if took := time.Since(began); took > servertest.Limit(4*time.Second) { // TLS alone would wait for 5 s
		t.Error("it took", took)
	}
}

// TestPresentIsShortThoughTheServerReadsNothing: Present must not wait for a write under TLS.
func TestPresentIsShortThoughTheServerReadsNothing(t *testing.T) {
	t.Parallel()
	s, under, _, garble := secured(t, servertest.Database(t))
	under.is.Store(true)
	garble()
	servertest.Wait(t, 10*time.Second, "what is no TLS", func() bool { return readable(s.wire.conn.Conn()) })
	looked := make(chan error, 1)
	go func() { looked <- s.Present() }()
	select {
	case err := <-looked:
		if !errors.As(err, new(*Lost)) {
			t.Error(err)
		}
	case <-time.After(servertest.Limit(10 * time.Second)):
		t.Error("it is still being looked at")
	}
	s.Abandon()
}
