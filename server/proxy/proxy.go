package proxy

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// Verdict decides about a message, and its connection.
type Verdict int

const (
	// Pass forwards the message.
	Pass Verdict = iota
	// Cut breaks the connection and does not forward the message. Messages before it have been
	// forwarded.
	Cut
	// PassThenCut forwards the message and then ends the connection, so that the answer is lost.
	PassThenCut
)

// Kinds of the messages that have no type byte; all others are told by theirs.
const (
	Startup       byte = 0
	CancelRequest byte = 1
)

// Watcher sees a message before it is forwarded. Connections are counted from 1; a cancel request
// is a connection of its own. The body is the part after the length, and is only valid during the
// call. Messages of one connection and direction come one after another, all others at the same
// time from other goroutines. A watcher may call the proxy's methods other than Stop.
type Watcher func(conn int, fromClient bool, kind byte, body []byte) Verdict

// Proxy listens on a TCP port of 127.0.0.1 and leads each connection to a server, without TLS. Its
// methods may be called from any goroutine.
type Proxy struct {
	server   string
	listener *net.TCPListener
	ctx      context.Context // ends with Stop
	stop     context.CancelFunc
	running  sync.WaitGroup

	mu      sync.Mutex
	count   int // connections so far
	links   map[*link]struct{}
	open    chan struct{} // closed while messages pass
	delay   time.Duration
	refuse  bool
	watcher Watcher
}

// Start opens a way to a server's address: host:port, or the path of a unix socket. The server need
// not be there yet; a client that comes while it is not loses its connection at once.
func Start(server string) (*Proxy, error) {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	p := &Proxy{server: server, listener: listener, links: map[*link]struct{}{}, open: make(chan struct{})}
	p.ctx, p.stop = context.WithCancel(context.Background())
	close(p.open)
	p.running.Go(p.accept)
	return p, nil
}

// Stop cuts all connections, takes no more, and returns when all goroutines have ended. A second
// Stop does nothing.
func (p *Proxy) Stop() {
	p.stop()
	_ = p.listener.Close() // nothing is lost with it
	p.Cut()
	p.running.Wait()
}

// DSN has a connection string of keywords and values, as package server gives them, lead through
// the proxy.
func (p *Proxy) DSN(dsn string) string {
	port := p.listener.Addr().(*net.TCPAddr).Port
	return fmt.Sprintf("%s host=127.0.0.1 port=%d sslmode=disable", dsn, port) // of a keyword given twice the last counts
}

// Cut breaks all connections there are, in both directions. Clients see a reset.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.reset()
	}
}

// Stall stops (true) or resumes the forwarding of everything: messages, ends of connections, and
// new connections, which stay without an answer. A message that is being forwarded at the moment of
// the call may still arrive; one whose watcher calls Stall does not.
func (p *Proxy) Stall(stall bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
		if stall {
			p.open = make(chan struct{})
		}
	default:
		if !stall {
			close(p.open)
		}
	}
}

// Delay holds messages back for so long, in each direction. Those that arrive together are held
// back together.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Refuse has new connections reset as soon as they are made. Those there are go on.
func (p *Proxy) Refuse(refuse bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = refuse
}

// holds tells what holds messages back: until open is closed, and for how long.
func (p *Proxy) holds() (open <-chan struct{}, delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open, p.delay
}

// Watch has a watcher see all messages from now on, in place of the one before; nil: none does.
func (p *Proxy) Watch(w Watcher) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watcher = w
}

// accept ends when the listener is closed.
func (p *Proxy) accept() {
	for {
		client, err := p.listener.AcceptTCP()
		if err != nil {
			return
		}
		if l := p.link(client); l != nil {
			p.running.Go(l.serve)
		}
	}
}

// link enters a new connection; nil if there must be none.
func (p *Proxy) link(client *net.TCPConn) *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse || p.ctx.Err() != nil {
		_ = client.SetLinger(0) // as reset does
		_ = client.Close()
		return nil
	}
	p.count++
	l := &link{proxy: p, number: p.count, client: client}
	l.ctx, l.cancel = context.WithCancel(p.ctx)
	p.links[l] = struct{}{}
	return l
}

func (p *Proxy) forget(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// verdict asks the watcher, if there is one.
func (p *Proxy) verdict(conn int, fromClient bool, m message) Verdict {
	p.mu.Lock()
	w := p.watcher
	p.mu.Unlock()
	if w == nil {
		return Pass
	}
	return w(conn, fromClient, m.kind, m.body())
}
