package fake

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// Exchange is a part of the conversation, named after the message that the server answers.
type Exchange string

// The exchanges, in order.
const (
	Encryption  Exchange = "encryption"   // the client asks for TLS
	SASL        Exchange = "sasl"         // the client has named its user
	Continue    Exchange = "continue"     // the client has sent its nonce
	Final       Exchange = "final"        // the client has sent its proof
	Startup     Exchange = "startup"      // the client has proved its identity
	Question    Exchange = "question"     // pgtaskd's own statement, in place of a task or before the first
	Preparation Exchange = "preparation"  // the messages before a task's SQL
	Input       Exchange = "input"        // that SQL; the server takes all SQL for SELECT 1
	Probe       Exchange = "probe"        // the question about the transaction
	End         Exchange = "end"          // the end of the transaction
	Sync        Exchange = "sync"         // the end of messages that were sent together
	Cancel      Exchange = "cancellation" // a cancel request
)

// Exchanges are all exchanges.
var Exchanges = []Exchange{Encryption, SASL, Continue, Final, Startup, Question, Preparation, Input, Probe, End, Sync, Cancel}

// Answer has the server's messages, and tells what it does next.
type Answer struct {
	Bytes  []byte
	Failed bool // it is an error: the server skips all messages up to the next Sync
	Silent bool // the server says nothing more on the connection
	Over   bool // the server closes the connection
}

// Right is the answer with these messages.
func Right(messages []Message) Answer { return Answer{Bytes: Bytes(messages)} }

// Wrong returns an answer in place of the right one. Several goroutines may call it at once.
type Wrong func(exchange Exchange, right []Message) Answer

// Server listens on a TCP port of 127.0.0.1. Its only user has the name User and the password
// Password.
type Server struct {
	listener *net.TCPListener
	wrong    Wrong
	ctx      context.Context // ends with Stop
	stop     context.CancelFunc
	running  sync.WaitGroup
}

// The user that may connect.
const (
	User     = "alice"
	Password = "secret"
)

// Start starts a server. If wrong is nil, all its answers are right.
func Start(wrong Wrong) (*Server, error) {
	if wrong == nil {
		wrong = func(_ Exchange, right []Message) Answer { return Right(right) }
	}
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("fake server: %w", err)
	}
	s := &Server{listener: listener, wrong: wrong}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.running.Go(s.accept)
	return s, nil
}

// Stop ends all connections, and returns when all goroutines have ended.
func (s *Server) Stop() {
	s.stop()
	_ = s.listener.Close() // an error changes nothing
	s.running.Wait()
}

// DSN is the connection string of the server.
func (s *Server) DSN() string {
	return fmt.Sprintf("host=127.0.0.1 port=%d user=%s password=%s dbname=fake",
		s.listener.Addr().(*net.TCPAddr).Port, User, Password)
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.running.Go(func() {
			defer conn.Close()
			defer context.AfterFunc(s.ctx, func() { _ = conn.Close() })()
			// an error is the client's, or the test wants it
			_ = (&session{conn: conn, wrong: s.wrong, ctx: s.ctx, status: 'I', known: map[string]string{}}).serve()
		})
	}
}
