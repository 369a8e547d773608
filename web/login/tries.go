package login

import (
	"net/netip"
	"sync"
	"time"
)

const (
	triesMost   = 10 // wrong tokens a minute and address
	clientsMost = 10_000
)

// Tries counts wrong tokens. Any goroutine may use it.
type Tries struct {
	mu      sync.Mutex
	clients map[string]tries
}

type tries struct {
	since time.Time
	n     int
}

// take counts a wrong token, and reports whether the client may try another one. When too many
// clients are known, it may not: good tokens are not counted.
func (t *Tries) take(client string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.clients[client]; !known && len(t.clients) >= clientsMost {
		for client, c := range t.clients {
			if now.Sub(c.since) >= time.Minute {
				delete(t.clients, client)
			}
		}
		if len(t.clients) >= clientsMost {
			return false
		}
	}
	if t.clients == nil {
		t.clients = map[string]tries{}
	}
	c := t.clients[client]
	if now.Sub(c.since) >= time.Minute {
		c = tries{since: now}
	}
	c.n = min(c.n+1, triesMost+1)
	t.clients[client] = c
	return c.n <= triesMost
}

// Network identifies a client by its IPv4 address or its IPv6 /64 network: one machine may have
// many IPv6 addresses (RFC 6177 gives each site at least a /64).
func Network(address string) string {
	port, err := netip.ParseAddrPort(address)
	if err != nil {
		return address
	}
	bits := 32
	if port.Addr().Unmap().Is6() {
		bits = 64
	}
	network, err := port.Addr().Unmap().WithZone("").Prefix(bits)
	if err != nil {
		return address
	}
	return network.String()
}
