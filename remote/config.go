package remote

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// outspoken are the keywords that pgconn knows, with the values that stand for leaving them out.
// Given explicitly, they leave nothing for pgconn to look up in the environment or in the home
// directory.
var outspoken = Settings{
	"host": "", "port": "", "dbname": "", "user": "", "password": "", "passfile": "",
	"connect_timeout": "0", "target_session_attrs": "any",
	"application_name": "", "client_encoding": "", "options": "", "replication": "",
	"sslmode": "prefer", "sslnegotiation": "postgres", "sslcert": "", "sslkey": "", "sslcertmode": "allow",
	"sslpassword": "", "sslrootcert": "", "sslsni": "1",
	"min_protocol_version": "", "max_protocol_version": "",
	"channel_binding": "prefer", "require_auth": "", "krbsrvname": "",
}

// harmless are the keywords that have no effect here, with the values under
// which that changes nothing; nil stands for any. With another value, as with
// the keywords of which pgconn knows nothing, a connection would be less safe
// than it was meant to be.
var harmless = map[string][]string{
	"sslcompression":     nil, // no longer in libpq either
	"tcp_user_timeout":   nil, // our own statements have limits of their own
	"gssencmode":         {"disable", "prefer"},
	"gssdelegation":      {"0"},
	"load_balance_hosts": {"disable"},
}

// seenTo are the keywords that are seen to in this package.
var seenTo = []string{
	"hostaddr", "fallback_application_name", "ssl_min_protocol_version", "ssl_max_protocol_version",
	"keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count",
}

// config translates settings for pgconn. Files that they name are read, but
// neither the environment nor the home directory has a say.
func config(s Settings) (*pgconn.Config, error) {
	if err := s.checkSupported(); err != nil {
		return nil, err
	}
	if err := s.checkPorts(); err != nil {
		return nil, err
	}
	hosts, lookup, err := s.hosts()
	if err != nil {
		return nil, err
	}
	spoken := maps.Clone(outspoken)
	for keyword := range outspoken {
		if s[keyword] != "" {
			spoken[keyword] = s[keyword]
		}
	}
	spoken["host"] = hosts
	if spoken["application_name"] == "" {
		spoken["application_name"] = s["fallback_application_name"]
	}
	if spoken["client_encoding"] == "auto" {
		spoken["client_encoding"] = ""
	}

	if err := spoken.checkFiles(); err != nil {
		return nil, err
	}
	cfg, err := pgconn.ParseConfig(spoken.String())
	if err != nil {
		return nil, blame(s, err)
	}
	maps.DeleteFunc(cfg.RuntimeParams, func(name, value string) bool {
		return value == "" || value != spoken[name]
	})
	share(cfg)
	cfg.ValidateConnect = guard(cfg.ValidateConnect)
	unshadowed(cfg)
	if lookup != nil {
		cfg.LookupFunc = lookup
	}
	if err := s.limitTLS(cfg); err != nil {
		return nil, err
	}
	return cfg, s.keepAlive(cfg)
}

// checkSupported refuses settings that pgconn can't follow and must not ignore.
func (s Settings) checkSupported() error {
	for keyword, value := range s {
		_, known := outspoken[keyword]
		values, ignored := harmless[keyword]
		ignored = ignored && (values == nil || slices.Contains(values, value))
		if value != "" && !known && !ignored && !slices.Contains(seenTo, keyword) {
			return &Refused{
				Message:  fmt.Sprintf("%q is not supported in a connection string", keyword),
				SQLState: stateUnable,
			}
		}
	}
	return nil
}

// blame says which of the settings pgconn does not accept. Its own error quotes
// the string, and passwords with it when they stand where it does not expect
// them.
func blame(s Settings, cause error) error {
	if count(s["port"]) > 1 && count(s["port"]) != max(count(s["host"]), count(s["hostaddr"])) {
		return badValue("port", "There must be one port, or one for each host.")
	}
	for _, keyword := range slices.SortedFunc(maps.Keys(s), keywordOrder) {
		alone := Settings{keyword: s[keyword]}
		switch {
		case keyword == "host" || keyword == "port" || keyword == "sslkey" || outspoken[keyword] == s[keyword]:
			continue
		case keyword == "sslcert" || keyword == "sslpassword":
			alone = Settings{"sslcert": s["sslcert"], "sslkey": s["sslkey"], "sslpassword": s["sslpassword"]}
		}
		settings := maps.Clone(outspoken)
		settings["host"] = "localhost" // with a socket nobody would look at TLS
		maps.Copy(settings, alone)
		if _, err := pgconn.ParseConfig(settings.String()); err != nil {
			return badFile(keyword, err)
		}
	}
	return &Refused{
		Message:  "invalid connection string: the values of its keywords contradict each other",
		Private:  fileTrouble(cause),
		SQLState: stateValue,
	}
}

func count(list string) int { return strings.Count(list, ",") + 1 }

// fileTrouble tells of a file that can't be read; of nothing else.
func fileTrouble(err error) string {
	var trouble *os.PathError
	if errors.As(err, &trouble) {
		return trouble.Error()
	}
	return ""
}

// badFile is badValue where the value may name a file.
func badFile(keyword string, cause error) error {
	return &Refused{
		Message:  fmt.Sprintf("invalid connection string: the value of %q can't be used", keyword),
		Private:  fileTrouble(cause),
		SQLState: stateValue,
	}
}

// tlsVersions are the names that libpq gives them.
var tlsVersions = map[string]uint16{
	"TLSv1": tls.VersionTLS10, "TLSv1.1": tls.VersionTLS11, "TLSv1.2": tls.VersionTLS12, "TLSv1.3": tls.VersionTLS13,
}

// limitTLS applies ssl_min_protocol_version and ssl_max_protocol_version.
func (s Settings) limitTLS(cfg *pgconn.Config) error {
	limits := map[string]uint16{}
	for _, keyword := range []string{"ssl_min_protocol_version", "ssl_max_protocol_version"} {
		version, known := tlsVersions[s[keyword]]
		if s[keyword] != "" && !known {
			return badValue(keyword, "It is one of TLSv1, TLSv1.1, TLSv1.2, TLSv1.3.")
		}
		limits[keyword] = version
	}
	limit := func(config *tls.Config) {
		if config != nil {
			config.MinVersion = limits["ssl_min_protocol_version"]
			config.MaxVersion = limits["ssl_max_protocol_version"]
		}
	}
	limit(cfg.TLSConfig)
	for _, fallback := range cfg.Fallbacks {
		limit(fallback.TLSConfig)
	}
	return nil
}
