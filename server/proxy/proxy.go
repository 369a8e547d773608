package proxy

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// Verdict decides about a message and its connection.
type Verdict int

const (
	// Pass forwards the message.
	Pass Verdict = iota
	// Cut breaks the connection and does not forward the message. The messages before it were
	// forwarded.
	Cut
	// PassThenCut forwards the message and then ends the connection, so that the answer is lost.
	PassThenCut
)

// Kinds of the messages without a type byte. All others have their type byte as kind.
const (
	Startup       byte = 0
	CancelRequest byte = 1
)

// Watcher sees a message before the proxy forwards it. Connections are counted from 1; a cancel
// request has its own. The body is the part after the length, and valid only during the call.
// Messages of one connection and direction come one after another, others from other goroutines at
// the same time. A watcher may call all methods of the proxy but Stop.
type Watcher func(conn int, fromClient bool, kind byte, body []byte) Verdict

// Proxy listens on a TCP port of 127.0.0.1 and forwards each connection to a server, without TLS.
// Any goroutine may call its methods.
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

// Start starts a proxy for a server's address: host:port, or the path of a unix socket. While no
// server is there, clients lose their connection at once.
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

// Stop cuts all connections, accepts no more, and returns when all goroutines have ended. A second
// Stop does nothing.
func (p *Proxy) Stop() {
	p.stop()
	_ = p.listener.Close() // an error changes nothing
	p.Cut()
	p.running.Wait()
}

// DSN changes a connection string of keywords and values, as package server returns it, so that it
// leads through the proxy.
func (p *Proxy) DSN(dsn string) string {
	port := p.listener.Addr().(*net.TCPAddr).Port
	// if a keyword is given twice, the last one counts
	return fmt.Sprintf("%s host=127.0.0.1 port=%d sslmode=disable", dsn, port)
}

// Cut breaks all present connections, in both directions. Clients see a reset.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.reset()
	}
}

// Stall stops (true) or resumes all forwarding: of messages, of ends of connections, and of new
// connections, which get no answer. A message that is being forwarded during the call may still
// arrive; one whose watcher calls Stall does not.
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

// Delay holds messages back for this long, in each direction. Messages that arrive together are
// held back together.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Refuse resets new connections at once. Present connections go on.
func (p *Proxy) Refuse(refuse bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = refuse
}

// holds returns what holds messages back: a channel that is closed while messages may pass, and the
// delay.
func (p *Proxy) holds() (open <-chan struct{}, delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open, p.delay
}

// Watch sets the watcher of all messages from now on; nil: none.
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

// link registers a new connection; nil if the proxy refuses it.
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
