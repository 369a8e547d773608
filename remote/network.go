package remote

import (
	"context"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// ConnectLimit is how long connecting may take for all hosts of a connection string together.
const ConnectLimit = 15 * time.Second

// share divides the time among several hosts, unless the string limits it: a host that does not
// answer must leave time for the others.
func share(cfg *pgconn.Config) {
	type place struct {
		host string
		port uint16
	}
	hosts := map[place]bool{{cfg.Host, cfg.Port}: true}
	for _, fallback := range cfg.Fallbacks {
		hosts[place{fallback.Host, fallback.Port}] = true
	}
	if cfg.ConnectTimeout == 0 && len(hosts) > 1 {
		cfg.ConnectTimeout = ConnectLimit / time.Duration(len(hosts))
	}
}

// shuffle puts the hosts, and the addresses of each, into a random order, as load_balance_hosts=random
// means. The tries of a host with and without TLS stay together.
func shuffle(cfg *pgconn.Config) {
	tries := append([]*pgconn.FallbackConfig{{Host: cfg.Host, Port: cfg.Port, TLSConfig: cfg.TLSConfig}}, cfg.Fallbacks...)
	var hosts [][]*pgconn.FallbackConfig
	for i, try := range tries {
		if i == 0 || try.Host != tries[i-1].Host || try.Port != tries[i-1].Port {
			hosts = append(hosts, nil)
		}
		hosts[len(hosts)-1] = append(hosts[len(hosts)-1], try)
	}
	rand.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
	tries = slices.Concat(hosts...)
	cfg.Host, cfg.Port, cfg.TLSConfig, cfg.Fallbacks = tries[0].Host, tries[0].Port, tries[0].TLSConfig, tries[1:]
	lookup := cfg.LookupFunc
	cfg.LookupFunc = func(ctx context.Context, host string) ([]string, error) {
		addresses, err := lookup(ctx, host)
		addresses = slices.Clone(addresses)
		rand.Shuffle(len(addresses), func(i, j int) { addresses[i], addresses[j] = addresses[j], addresses[i] })
		return addresses, err
	}
}

// dialOnce does not dial an address again that has just failed: with sslmode=prefer pgx would do so,
// only without TLS.
func dialOnce(dial pgconn.DialFunc) pgconn.DialFunc {
	var last struct {
		sync.Mutex
		address string
		failed  error
		at      time.Time
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		last.Lock()
		again, failed := last.address == address && time.Since(last.at) < 50*time.Millisecond, last.failed
		last.Unlock()
		if again {
			return nil, failed
		}
		conn, err := dial(ctx, network, address)
		if err != nil {
			last.Lock()
			last.address, last.failed, last.at = address, err, time.Now()
			last.Unlock()
		}
		return conn, err
	}
}

// hosts joins host and hostaddr, as pgconn knows only host. It keeps the names, against which
// certificates are checked; lookup returns their addresses. Without hostaddr, lookup is nil.
func (s Settings) hosts() (list string, lookup pgconn.LookupFunc, err error) {
	if !s.given("hostaddr") {
		return s["host"], nil, nil
	}
	addresses := strings.Split(s["hostaddr"], ",")
	names := make([]string, len(addresses))
	if s.given("host") {
		names = strings.Split(s["host"], ",")
	}
	if len(names) != len(addresses) {
		return "", nil, badValue("hostaddr", "There must be one address for each host.")
	}

	known := map[string][]string{}
	for i, address := range addresses {
		if address == "" {
			continue // pgconn looks the name up, or it is a socket's directory
		}
		if net.ParseIP(address) == nil {
			return "", nil, badValue("hostaddr", "It is a list of IP addresses.")
		}
		if names[i] == "" || strings.HasPrefix(names[i], "/") {
			names[i] = address
		}
		known[names[i]] = append(known[names[i]], address)
	}
	lookup = func(ctx context.Context, host string) ([]string, error) {
		if addresses, ok := known[host]; ok {
			return addresses, nil
		}
		return net.DefaultResolver.LookupHost(ctx, host)
	}
	return strings.Join(names, ","), lookup, nil
}
