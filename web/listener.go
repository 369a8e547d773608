package web

import (
	"crypto/tls"
	"net"
	"slices"
	"sync"

	"pgtaskd/web/login"
)

// clientsMost limits the open connections. Each open page has one for its stream.
const clientsMost = 400

// listener keeps at most clientsMost connections: each takes a file descriptor that a session may
// need. For one more, it closes the oldest connection of the client with the most, so no client can
// block the others.
type listener struct {
	net.Listener
	secure func() *tls.Config // nil: no TLS for a connection that begins now
	mu     sync.Mutex
	open   []*conn // oldest first
}

type conn struct {
	net.Conn
	client   string
	listener *listener
}

// Accept returns the next connection.
func (l *listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: accepted, client: login.Network(accepted.RemoteAddr().String()), listener: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= clientsMost {
		at := l.excess()
		_ = l.open[at].Conn.Close() // its goroutine notices, and calls Close
		l.open = slices.Delete(l.open, at, at+1)
	}
	l.open = append(l.open, c)
	if config := l.secure(); config != nil {
		return tls.Server(c, config), nil // the handshake is the reader's
	}
	return c, nil
}

// excess returns the index of the oldest connection of the client with the most.
func (l *listener) excess() int {
	count := map[string]int{}
	for _, c := range l.open {
		count[c.client]++
	}
	most := 0
	for i, c := range l.open {
		if count[c.client] > count[l.open[most].client] {
			most = i
		}
	}
	return most
}

// Close makes room for another connection.
func (c *conn) Close() error {
	c.listener.mu.Lock()
	c.listener.open = slices.DeleteFunc(c.listener.open, func(other *conn) bool { return other == c })
	c.listener.mu.Unlock()
	return c.Conn.Close()
}
