package web

import (
	"net"
	"net/netip"
	"slices"
	"sync"
)

// clientsMost limits the open connections.
const clientsMost = 64

// listener keeps at most clientsMost connections: each takes a file descriptor that a session may
// need. For one more, it closes the oldest connection of the client with the most, so no client can
// block the others.
type listener struct {
	net.Listener
	mu   sync.Mutex
	open []*conn // oldest first
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
	c := &conn{Conn: accepted, client: clientOf(accepted.RemoteAddr()), listener: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= clientsMost {
		at := l.excess()
		_ = l.open[at].Conn.Close() // its goroutine notices, and calls Close
		l.open = slices.Delete(l.open, at, at+1)
	}
	l.open = append(l.open, c)
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

// clientOf identifies a client by its IPv4 address or its IPv6 /64 network: one machine may have
// many IPv6 addresses (RFC 6177 gives each site at least a /64).
func clientOf(a net.Addr) string {
	port, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return a.String()
	}
	bits := 32
	if port.Addr().Unmap().Is6() {
		bits = 64
	}
	network, err := port.Addr().Unmap().WithZone("").Prefix(bits)
	if err != nil {
		return a.String()
	}
	return network.String()
}

// Close makes room for another connection.
func (c *conn) Close() error {
	c.listener.mu.Lock()
	c.listener.open = slices.DeleteFunc(c.listener.open, func(other *conn) bool { return other == c })
	c.listener.mu.Unlock()
	return c.Conn.Close()
}
