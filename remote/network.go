package remote

import (
	"context"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// ConnectLimit is how long connecting may take, all hosts of a connection string together.
const ConnectLimit = 15 * time.Second

// share gives each of several hosts its part of the time, where the string does not: one that does
// not answer leaves the others theirs.
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

// hosts joins host and hostaddr, since pgconn knows host only: names stay, as certificates are
// checked against them, and are looked up among the addresses. Without hostaddr there is nothing to
// look up, and lookup is nil.
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
			continue // the name is looked up, or is a socket's directory
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
