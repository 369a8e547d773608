package remote

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// ConnectLimit is how long connecting may take, all hosts of a connection string together.
const ConnectLimit = 15 * time.Second

// share gives each of several hosts its part of the time, where the string does not: one that does
// not answer leaves the others theirs.
func share(cfg *pgconn.Config) {
	hosts := map[string]bool{net.JoinHostPort(cfg.Host, strconv.Itoa(int(cfg.Port))): true}
	for _, fallback := range cfg.Fallbacks {
		hosts[net.JoinHostPort(fallback.Host, strconv.Itoa(int(fallback.Port)))] = true
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

// keepAlive applies the keywords about TCP keepalives; the operating system has
// the say about those that are left out.
func (s Settings) keepAlive(cfg *pgconn.Config) error {
	if !s.given("keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count") {
		return nil
	}
	numbers := map[string]int{"keepalives": 1}
	for _, keyword := range []string{"keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count"} {
		if s[keyword] == "" {
			continue
		}
		number, err := strconv.Atoi(s[keyword])
		if err != nil || number < 0 {
			return badValue(keyword, "It is a number.")
		}
		numbers[keyword] = number
	}

	// Zero means the system's default in libpq, where net takes it for its own.
	orSystem := func(number int) int {
		if number == 0 {
			return -1
		}
		return number
	}
	dialer := &net.Dialer{Timeout: cfg.ConnectTimeout, KeepAlive: -1}
	if numbers["keepalives"] != 0 {
		dialer.KeepAliveConfig = net.KeepAliveConfig{
			Enable:   true,
			Idle:     time.Duration(orSystem(numbers["keepalives_idle"])) * time.Second,
			Interval: time.Duration(orSystem(numbers["keepalives_interval"])) * time.Second,
			Count:    orSystem(numbers["keepalives_count"]),
		}
	}
	cfg.DialFunc = dialer.DialContext
	return nil
}
