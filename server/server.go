package server

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stopTimeout is how long a server may take to shut down before it is killed.
const stopTimeout = 30 * time.Second

// Ports are below those of outgoing connections (32768 and up on Linux): an outgoing connection could
// take the port while the server is down between Crash and Restart.
const (
	firstPort    = 20000
	lastPort     = 32000
	portAttempts = 5
)

// Options tell how a server differs from a freshly initialised one.
type Options struct {
	// Settings are written after initdb's and the package's own, and win over them. Values have no
	// quotes. fsync is on by default; a caller that needs no durability turns it off, and gets a
	// server in memory if there is room.
	Settings map[string]string
	// HBA has lines that come before the package's own in pg_hba.conf. These are: trust on the
	// socket, scram-sha-256 over TCP.
	HBA []string
}

// Server is a running (or crashed) PostgreSQL server. Any goroutine may call its methods.
type Server struct {
	// Bindir is the folder of the server's binaries.
	Bindir string
	// SocketDir is the folder of the server's unix socket. Only the server's own user and root can
	// enter it.
	SocketDir string
	// Port is the TCP port on 127.0.0.1, and the number in the socket's name.
	Port int

	folder   *folder
	password string
	options  Options

	mu          sync.Mutex
	process     *process // nil after Stop
	environment []string // of the program, in addition to that of every program
}

// Start initialises a data folder and starts a server on it, which takes about a second. If we are
// root, the server runs as postgres or else as nobody. ctx bounds only the start; the server runs
// until Stop. The error matches ErrNoBinaries if PostgreSQL is not installed.
func Start(ctx context.Context, options Options) (*Server, error) {
	bindir, err := Bindir()
	if err != nil {
		return nil, err
	}
	return start(ctx, &Server{Bindir: bindir, options: options}, func(s *Server) (err error) {
		s.password, err = s.folder.initdb(ctx, bindir)
		return err
	})
}

// start starts a server in a new folder; fill makes its data.
func start(ctx context.Context, s *Server, fill func(*Server) error) (_ *Server, err error) {
	if s.folder, err = newFolder(s.options); err != nil {
		return nil, fmt.Errorf("PostgreSQL server: %w", err)
	}
	s.SocketDir = s.folder.path
	if err = fill(s); err == nil {
		err = s.startOnFreePort(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("PostgreSQL server: %w", err), s.folder.remove())
	}
	return s, nil
}

// startOnFreePort configures a port for the server and starts it. It tries again if another process
// takes the port meanwhile.
func (s *Server) startOnFreePort(ctx context.Context) (err error) {
	for range portAttempts {
		if s.Port, err = freePort(); err != nil {
			return err
		}
		if err = s.folder.configure(s.Port, s.options); err != nil {
			return err
		}
		if s.process, err = startProcess(ctx, s.Bindir, s.folder, s.environment); err == nil || portIsFree(s.Port) {
			return err
		}
	}
	return err
}

// Stop shuts the server down immediately, which cuts off all clients, and removes its folder. A
// second Stop does nothing.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return nil
	}
	err := s.process.stop(syscall.SIGQUIT)
	s.process = nil
	return errors.Join(err, s.folder.remove())
}

// Crash shuts the server down immediately: it flushes nothing, and the next start recovers from the
// WAL. Crash returns when the server is gone; Restart brings it back.
func (s *Server) Crash() error {
	return s.alone(func() error { return s.process.stop(syscall.SIGQUIT) })
}

// Kill ends the main process of the server with SIGKILL, as a lack of memory does. Its backends
// outlive it for a moment. Restart brings it back.
func (s *Server) Kill() error {
	return s.alone(func() error { return s.process.stop(syscall.SIGKILL) })
}

// Restart starts the server again on the same data, port and socket. If it still runs, a fast
// shutdown comes first.
func (s *Server) Restart(ctx context.Context) error {
	return s.alone(func() error {
		if err := s.process.stop(syscall.SIGINT); err != nil {
			return err
		}
		p, err := startProcess(ctx, s.Bindir, s.folder, s.environment)
		for began := time.Now(); err != nil && strings.Contains(err.Error(), outlived) && time.Since(began) < stopTimeout; {
			p, err = startProcess(ctx, s.Bindir, s.folder, s.environment)
		}
		if err != nil {
			return fmt.Errorf("PostgreSQL server: %w", err)
		}
		s.process = p
		return nil
	})
}

// outlived is in the log of a server that cannot start because of backends that have outlived Kill.
const outlived = "shared memory block"

// Promote makes a standby a primary, and returns when it accepts writes.
func (s *Server) Promote(ctx context.Context) error {
	return s.alone(func() error {
		return s.folder.run(ctx, s.Bindir, "pg_ctl", "promote", "--pgdata", s.folder.data(), "--wait")
	})
}

// alone calls do under the lock, if the server was not stopped.
func (s *Server) alone(do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return errors.New("PostgreSQL server: already stopped")
	}
	return do()
}

// DSN is the connection string of the superuser postgres for a database, over the unix socket.
func (s *Server) DSN(database string) string {
	return fmt.Sprintf("host=%s port=%d user=postgres dbname=%s", quoteDSN(s.SocketDir), s.Port, quoteDSN(database))
}

// Socket is the path of the server's unix socket.
func (s *Server) Socket() string {
	return filepath.Join(s.SocketDir, fmt.Sprintf(".s.PGSQL.%d", s.Port))
}

// TCP is the connection string of the superuser postgres for a database, over TCP and with the
// password.
func (s *Server) TCP(database string) string {
	return fmt.Sprintf("host=127.0.0.1 port=%d user=postgres password=%s dbname=%s sslmode=disable",
		s.Port, s.password, quoteDSN(database))
}

func freePort() (int, error) {
	for range 100 {
		if port := firstPort + rand.IntN(lastPort-firstPort); portIsFree(port) {
			return port, nil
		}
	}
	return 0, errors.New("no free TCP port on 127.0.0.1")
}

// portIsFree tells whether nobody listens on a port of 127.0.0.1.
func portIsFree(port int) bool {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

// quoteDSN writes a value of a connection string, quoted if necessary.
func quoteDSN(value string) string {
	if value != "" && !strings.ContainsAny(value, " \t\n\r\v\f'\\") {
		return value
	}
	return quote(value)
}

// quote quotes a value of a connection string, or of a configuration.
func quote(value string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'"
}
