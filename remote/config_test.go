package remote

import (
	"crypto/tls"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestConfig(t *testing.T) {
	t.Parallel()
	cfg, err := config(Settings{
		"host": "a,b", "port": "1,2", "user": "u", "password": "p", "dbname": "d", "sslmode": "verify-full",
		"connect_timeout": "7", "options": "-c a=b", "fallback_application_name": "x", "client_encoding": "auto",
		"ssl_min_protocol_version": "TLSv1.3", "keepalives_idle": "any", "sslcompression": "1", "gssencmode": "disable",
		"target_session_attrs": "primary", "require_auth": "scram-sha-256", "channel_binding": "require",
	})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Host != "a" || cfg.Port != 1 || cfg.User != "u" || cfg.Password != "p" || cfg.Database != "d" {
		t.Errorf("got %s %d %s %s", cfg.Host, cfg.Port, cfg.User, cfg.Database)
	}
	if len(cfg.Fallbacks) != 1 || cfg.Fallbacks[0].Host != "b" || cfg.Fallbacks[0].Port != 2 {
		t.Errorf("fallbacks %v", cfg.Fallbacks)
	}
	if want := map[string]string{"options": "-c a=b", "application_name": "x"}; !maps.Equal(cfg.RuntimeParams, want) {
		t.Errorf("parameters %v, want %v", cfg.RuntimeParams, want)
	}
	if cfg.TLSConfig.MinVersion != tls.VersionTLS13 || cfg.Fallbacks[0].TLSConfig.MinVersion != tls.VersionTLS13 {
		t.Error("ssl_min_protocol_version is not applied")
	}
	if cfg.ConnectTimeout != 7*time.Second || cfg.ValidateConnect == nil || cfg.RequireAuth != "scram-sha-256" || cfg.ChannelBinding != "require" {
		t.Errorf("timeout %v, require_auth %s, channel_binding %s", cfg.ConnectTimeout, cfg.RequireAuth, cfg.ChannelBinding)
	}
}

// TestTimeIsShared: a host that does not answer leaves the other hosts their time.
func TestTimeIsShared(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]time.Duration{"a": 0, "a,b": ConnectLimit / 2, "a,a": 0, "a,b,/run": ConnectLimit / 3} {
		cfg, err := config(Settings{"host": host, "user": "u"})
		if err != nil {
			t.Fatal(err)
		}
		if cfg.ConnectTimeout != want {
			t.Errorf("%s: %v, not %v", host, cfg.ConnectTimeout, want)
		}
	}
}

func TestHostaddr(t *testing.T) {
	t.Parallel()
	cases := []struct {
		settings Settings
		hosts    []string
		lookup   map[string][]string
	}{
		{Settings{"hostaddr": "127.0.0.1"}, []string{"127.0.0.1"}, map[string][]string{"127.0.0.1": {"127.0.0.1"}}},
		{Settings{"host": "db.example", "hostaddr": "::1"}, []string{"db.example"}, map[string][]string{"db.example": {"::1"}}},
		{Settings{"host": "/run", "hostaddr": "127.0.0.1"}, []string{"127.0.0.1"}, nil},
		{Settings{"host": "a,b", "hostaddr": "10.0.0.1,10.0.0.2"}, []string{"a", "b"}, map[string][]string{"a": {"10.0.0.1"}, "b": {"10.0.0.2"}}},
		{Settings{"host": "a,a", "hostaddr": "10.0.0.1,10.0.0.2"}, []string{"a", "a"}, map[string][]string{"a": {"10.0.0.1", "10.0.0.2"}}},
		{Settings{"host": "/run,a", "hostaddr": ",10.0.0.2"}, []string{"/run", "a"}, nil},
	}
	for _, c := range cases {
		cfg, err := config(c.settings.With(Settings{"sslmode": "disable"}))
		if err != nil {
			t.Errorf("%v: %v", c.settings, err)
			continue
		}
		hosts := []string{cfg.Host}
		for _, fallback := range cfg.Fallbacks {
			hosts = append(hosts, fallback.Host)
		}
		if !slices.Equal(hosts, c.hosts) {
			t.Errorf("%v: hosts %v, want %v", c.settings, hosts, c.hosts)
		}
		for host, want := range c.lookup {
			if got, err := cfg.LookupFunc(t.Context(), host); err != nil || !slices.Equal(got, want) {
				t.Errorf("%v: %s is found at %v, %v, want %v", c.settings, host, got, err, want)
			}
		}
	}
}

func TestConfigRefuses(t *testing.T) {
	t.Parallel()
	const unusable = `invalid connection string: the value of "%" can't be used`
	const unsupported = `"%" is not supported in a connection string`
	cases := []struct {
		keyword, message string
		settings         Settings
	}{
		{"sslmode", unusable, Settings{"host": "a", "sslmode": "maybe"}},
		{"connect_timeout", unusable, Settings{"connect_timeout": "hunter"}},
		{"target_session_attrs", unusable, Settings{"target_session_attrs": "hunter"}},
		{"channel_binding", unusable, Settings{"channel_binding": "hunter"}},
		{"require_auth", unusable, Settings{"require_auth": "hunter"}},
		{"sslcertmode", unusable, Settings{"sslcertmode": "hunter"}},
		{"min_protocol_version", unusable, Settings{"min_protocol_version": "hunter"}},
		{"sslrootcert", unusable, Settings{"host": "a", "sslrootcert": "/nowhere"}},
		{"sslcert", unusable, Settings{"host": "a", "sslcert": "/nowhere", "sslkey": "/nowhere"}},
		{"sslcert", unusable, Settings{"host": "a", "sslcert": "/nowhere"}},
		{"port", unusable, Settings{"host": "a,b,c", "port": "1,2"}},
		{"hostaddr", unusable, Settings{"host": "a,b", "hostaddr": "127.0.0.1"}},
		{"hostaddr", unusable, Settings{"hostaddr": "localhost"}},
		{"ssl_max_protocol_version", unusable, Settings{"ssl_max_protocol_version": "SSLv3"}},
		{"", "invalid connection string: the values of its keywords contradict each other", Settings{"min_protocol_version": "3.2", "max_protocol_version": "3.0"}},
		{"requirepeer", unsupported, Settings{"requirepeer": "postgres"}},
		{"sslcrl", unsupported, Settings{"sslcrl": "/x"}},
		{"gssencmode", unsupported, Settings{"gssencmode": "require"}},
		{"scram_client_key", unsupported, Settings{"scram_client_key": "hunter"}},
		{"load_balance_hosts", unsupported, Settings{"load_balance_hosts": "hunter"}},
	}
	for _, c := range cases {
		_, err := config(c.settings.With(Settings{"password": "hunter"}))
		var refused *Refused
		if !errors.As(err, &refused) {
			t.Errorf("%v: %v", c.settings, err)
			continue
		}
		if want := strings.ReplaceAll(c.message, "%", c.keyword); refused.Message != want {
			t.Errorf("%v: %s, want %s", c.settings, refused.Message, want)
		}
		if strings.Contains(refused.Message+refused.Detail+refused.Hint, "hunter") {
			t.Errorf("%v: %+v", c.settings, refused)
		}
	}
}

// TestConfigNeedsNoEnvironment: config sets every keyword that pgconn knows. Otherwise the
// environment could set it.
func TestConfigNeedsNoEnvironment(t *testing.T) {
	for variable := range variables {
		t.Setenv(variable, "")
	}
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	settings := Settings{"host": "localhost", "port": "5433", "user": "u", "dbname": "d"}
	want, err := config(settings)
	if err != nil {
		t.Fatal(err)
	}

	write(t, filepath.Join(dir, ".pgpass"), "*:*:*:*:hunter\n")
	for _, name := range []string{"postgresql.crt", "postgresql.key", "root.crt"} {
		write(t, filepath.Join(dir, ".postgresql", name), "nonsense")
	}
	for _, variable := range append(slices.Collect(maps.Keys(variables)), "PGSERVICEFILE", "PGTZ", "PGDATESTYLE", "PGGEQO", "PGREALM") {
		value := "hunter"
		switch variable {
		case "PGPASSFILE":
			value = filepath.Join(dir, ".pgpass")
		case "PGPORT":
			value = "1"
		}
		t.Setenv(variable, value)
	}
	got, err := config(settings)
	if err != nil {
		t.Fatal(err)
	}
	if difference := differ(got, want); difference != "" {
		t.Error(difference)
	}
}

// differ names the first field in which two configurations differ.
func differ(a, b *pgconn.Config) string {
	certificates := func(cfg *pgconn.Config) int {
		if cfg.TLSConfig == nil {
			return -1
		}
		return len(cfg.TLSConfig.Certificates)
	}
	switch {
	case a.Host != b.Host || a.Port != b.Port || len(a.Fallbacks) != len(b.Fallbacks):
		return "host"
	case a.User != b.User || a.Database != b.Database:
		return "user and database"
	case a.Password != b.Password:
		return "password"
	case !maps.Equal(a.RuntimeParams, b.RuntimeParams):
		return "parameters"
	case certificates(a) != certificates(b) || a.SSLCertMode != b.SSLCertMode || a.SSLNegotiation != b.SSLNegotiation:
		return "TLS"
	case a.TLSConfig != nil && (a.TLSConfig.ServerName != b.TLSConfig.ServerName || (a.TLSConfig.RootCAs == nil) != (b.TLSConfig.RootCAs == nil)):
		return "what TLS checks"
	case a.ConnectTimeout != b.ConnectTimeout || (a.ValidateConnect == nil) != (b.ValidateConnect == nil):
		return "way to connect"
	case a.MinProtocolVersion != b.MinProtocolVersion || a.MaxProtocolVersion != b.MaxProtocolVersion:
		return "protocol"
	case a.ChannelBinding != b.ChannelBinding || a.RequireAuth != b.RequireAuth || a.KerberosSrvName != b.KerberosSrvName:
		return "authentication"
	}
	return ""
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestHostsAreShuffled: every host comes first at times, with its own port, and stays together with its
// try without TLS.
func TestHostsAreShuffled(t *testing.T) {
	t.Parallel()
	first := map[string]bool{}
	for range 1000 {
		cfg, err := config(Settings{"host": "a,b,c", "hostaddr": "10.0.0.1,10.0.0.2,10.0.0.3", "port": "1,2,3", "load_balance_hosts": "random"})
		if err != nil {
			t.Fatal(err)
		}
		tries := append([]*pgconn.FallbackConfig{{Host: cfg.Host, Port: cfg.Port, TLSConfig: cfg.TLSConfig}}, cfg.Fallbacks...)
		if len(tries) != 6 {
			t.Fatal(len(tries), " tries")
		}
		for i, try := range tries {
			if try.Host != string(rune('a'-1+try.Port)) || try.Host != tries[i&^1].Host || (try.TLSConfig == nil) != (i%2 == 1) {
				t.Fatalf("try %d: %v", i, try)
			}
		}
		if found, err := cfg.LookupFunc(t.Context(), "b"); err != nil || !slices.Equal(found, []string{"10.0.0.2"}) {
			t.Fatal(found, err)
		}
		first[cfg.Host] = true
	}
	if len(first) != 3 {
		t.Error(first)
	}
}
