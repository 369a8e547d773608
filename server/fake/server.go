package fake

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// Exchange is a part of the conversation, by what the server answers to.
type Exchange string

// The exchanges, in the order in which they come.
const (
	Encryption  Exchange = "encryption"   // the client asks for TLS
	SASL        Exchange = "sasl"         // the client has named its user
	Continue    Exchange = "continue"     // it has said its nonce
	Final       Exchange = "final"        // and its proof
	Startup     Exchange = "startup"      // it has proved who it is
	Question    Exchange = "question"     // what pgtaskd asks instead of a task, or before the first
	Preparation Exchange = "preparation"  // what comes before a task's SQL
	Input       Exchange = "input"        // that SQL, which is SELECT 1 for all that the server knows
	Probe       Exchange = "probe"        // what asks what has become of the transaction
	End         Exchange = "end"          // what ends it
	Sync        Exchange = "sync"         // the end of what was sent at once
	Cancel      Exchange = "cancellation" // a cancel request
)

// Exchanges are all of them.
var Exchanges = []Exchange{Encryption, SASL, Continue, Final, Startup, Question, Preparation, Input, Probe, End, Sync, Cancel}

// Answer is what the server says, and what it does then.
type Answer struct {
	Bytes  []byte
	Failed bool // it is an error, behind which all is passed over up to the next Sync
	Silent bool // it says nothing more on the connection
	Over   bool // it closes the connection
}

// Right is the answer that is made of messages.
func Right(messages []Message) Answer { return Answer{Bytes: Bytes(messages)} }

// Wrong says what the server answers instead of what would be right. It is called by several
// goroutines at once.
type Wrong func(exchange Exchange, right []Message) Answer

// Server listens on a TCP port of 127.0.0.1. The only user's name and password are those of User
// and Password.
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

// Start starts a server. Where wrong is nil it always says what is right.
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
	_ = s.listener.Close() // nothing is lost with it
	s.running.Wait()
}

// DSN is a connection string for the server.
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
			_ = (&session{conn: conn, wrong: s.wrong, ctx: s.ctx, status: 'I', known: map[string]string{}}).serve() // the client's fault, or ours by intent
		})
	}
}
