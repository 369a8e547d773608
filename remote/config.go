package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// outspoken are the keywords that pgconn knows, with their defaults. config sets all of them, so
// pgconn looks up nothing in the environment or the home directory.
var outspoken = Settings{
	"host": "", "port": "", "dbname": "", "user": "", "password": "", "passfile": "",
	"connect_timeout": "0", "target_session_attrs": "any",
	"application_name": "", "client_encoding": "", "options": "", "replication": "",
	"sslmode": "prefer", "sslnegotiation": "postgres", "sslcert": "", "sslkey": "", "sslcertmode": "allow",
	"sslpassword": "", "sslrootcert": "", "sslsni": "1",
	"min_protocol_version": "", "max_protocol_version": "",
	"channel_binding": "prefer", "require_auth": "", "krbsrvname": "",
}

// others are the keywords that pgconn does not know but config accepts, with the accepted values;
// nil: any. Other values and keywords are refused: without them a connection would be less safe
// than the user wanted.
var others = map[string][]string{
	"hostaddr": nil, "fallback_application_name": nil, "ssl_min_protocol_version": nil, "ssl_max_protocol_version": nil,

	// These have no effect. Our own statements have their own limits, and all connections have Go's
	// keepalive: after 15 s of silence, every 15 s.
	"tcp_user_timeout": nil, "keepalives": nil, "keepalives_idle": nil, "keepalives_interval": nil, "keepalives_count": nil,

	"sslcompression":     nil, // libpq no longer has it
	"gssencmode":         {"disable", "prefer"},
	"gssdelegation":      {"0"},
	"load_balance_hosts": {"disable", "random"},
}

// config translates settings for pgconn. It reads the files that they name, but uses neither the
// environment nor the home directory.
func config(s Settings) (*pgconn.Config, error) {
	if err := s.checkSupported(); err != nil {
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
	cfg.DialFunc = dialOnce(cfg.DialFunc)
	share(cfg)
	if cfg.ValidateConnect != nil {
		cfg.ValidateConnect = safely(cfg.ValidateConnect)
	}
	if lookup != nil {
		cfg.LookupFunc = lookup
	}
	if s["load_balance_hosts"] == "random" {
		shuffle(cfg)
	}
	return cfg, s.limitTLS(cfg)
}

// safely makes the query for target_session_attrs safe. pgconn calls functions without a schema,
// and the owner of the database may have placed other functions before pg_catalog; so safely sets
// its own search path meanwhile. It also catches pgconn's panic if the server answers without a
// row.
func safely(validate pgconn.ValidateConnectFunc) pgconn.ValidateConnectFunc {
	return func(ctx context.Context, conn *pgconn.PgConn) (err error) {
		defer func() {
			if recover() != nil {
				err = errors.New("the server does not say what target_session_attrs asks for")
			}
		}()
		if _, err := conn.Exec(ctx, "SET search_path TO pg_catalog, pg_temp").ReadAll(); err != nil {
			return err
		}
		// After an error the session may still be used, if no kind of server is required.
		answer := validate(ctx, conn)
		if _, err := conn.Exec(ctx, "RESET search_path").ReadAll(); err != nil {
			return err
		}
		return answer
	}
}

// checkSupported refuses settings that pgconn cannot follow and must not ignore.
func (s Settings) checkSupported() error {
	for keyword, value := range s {
		_, known := outspoken[keyword]
		values, accepted := others[keyword]
		accepted = accepted && (values == nil || slices.Contains(values, value))
		if value != "" && !known && !accepted {
			return &Refused{
				Message:  fmt.Sprintf("%q is not supported in a connection string", keyword),
				SQLState: stateUnable,
			}
		}
	}
	return nil
}

// blame finds the setting that pgconn rejects. pgconn's own error quotes the string, and can show a
// misplaced password.
func blame(s Settings, cause error) error {
	if count(s["port"]) > 1 && count(s["port"]) != max(count(s["host"]), count(s["hostaddr"])) {
		return badValue("port", "There must be one port, or one for each host.")
	}
	for _, keyword := range s.sorted() {
		alone := Settings{keyword: s[keyword]}
		switch {
		case keyword == "host" || keyword == "port" || keyword == "sslkey" || outspoken[keyword] == s[keyword]:
			continue
		case keyword == "sslcert" || keyword == "sslpassword":
			alone = Settings{"sslcert": s["sslcert"], "sslkey": s["sslkey"], "sslpassword": s["sslpassword"]}
		}
		settings := maps.Clone(outspoken)
		settings["host"] = "localhost" // with a socket, pgconn would not check TLS
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

// tlsVersions are libpq's names of TLS versions.
var tlsVersions = map[string]uint16{
	"TLSv1": tls.VersionTLS10, "TLSv1.1": tls.VersionTLS11, "TLSv1.2": tls.VersionTLS12, "TLSv1.3": tls.VersionTLS13,
}

// limitTLS applies ssl_min_protocol_version and ssl_max_protocol_version.
func (s Settings) limitTLS(cfg *pgconn.Config) error {
	var limits [2]uint16
	for i, keyword := range []string{"ssl_min_protocol_version", "ssl_max_protocol_version"} {
		version, known := tlsVersions[s[keyword]]
		if s[keyword] != "" && !known {
			return badValue(keyword, "It is one of TLSv1, TLSv1.1, TLSv1.2, TLSv1.3.")
		}
		limits[i] = version
	}
	configs := []*tls.Config{cfg.TLSConfig}
	for _, fallback := range cfg.Fallbacks {
		configs = append(configs, fallback.TLSConfig)
	}
	for _, config := range configs {
		if config != nil {
			config.MinVersion, config.MaxVersion = limits[0], limits[1]
		}
	}
	return nil
}
