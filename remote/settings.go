package remote

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Settings are the parameters of a connection by libpq's keywords: host, hostaddr, port, dbname,
// user, password and so on. An empty value was given as empty; a missing keyword was not given.
//
// fmt shows them as Public does, so %v in a log does not reveal a password.
type Settings map[string]string

// blanks are the characters that C's isspace accepts.
const blanks = " \t\n\v\f\r"

// keywords are those of libpq 18, in the order in which String writes them.
var keywords = []string{
	"host", "hostaddr", "port", "dbname", "user", "password",
	"service", "servicefile", "passfile", "connect_timeout", "target_session_attrs", "load_balance_hosts",
	"application_name", "fallback_application_name", "client_encoding", "options", "replication",
	"sslmode", "sslnegotiation", "sslcompression", "sslcert", "sslkey", "sslcertmode", "sslpassword", "sslrootcert",
	"sslcrl", "sslcrldir", "sslsni", "sslkeylogfile", "ssl_min_protocol_version", "ssl_max_protocol_version",
	"min_protocol_version", "max_protocol_version",
	"channel_binding", "require_auth", "requirepeer", "scram_client_key", "scram_server_key",
	"gssencmode", "gssdelegation", "gsslib", "krbsrvname",
	"oauth_issuer", "oauth_client_id", "oauth_client_secret", "oauth_scope",
	"keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout",
}

// secrets are the keywords whose values only the server may see.
var secrets = []string{"password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret"}

// With returns a copy of s with the overrides; an empty value removes its keyword.
func (s Settings) With(overrides Settings) Settings {
	merged := make(Settings, len(s)+len(overrides))
	maps.Copy(merged, s)
	for keyword, value := range overrides {
		if value == "" {
			delete(merged, keyword)
		} else {
			merged[keyword] = value
		}
	}
	return merged
}

// String returns s as keyword/value pairs, with secrets. Parse reads the same settings from it, and
// equal settings have equal strings.
func (s Settings) String() string {
	var pairs []string
	for _, keyword := range s.sorted() {
		pairs = append(pairs, keyword+"="+quote(s[keyword]))
	}
	return strings.Join(pairs, " ")
}

// Public returns s as String does, without secrets: for logs and errors.
func (s Settings) Public() string {
	shown := maps.Clone(s)
	maps.DeleteFunc(shown, func(keyword, _ string) bool { return isSecret(keyword) })
	return shown.String()
}

// Format writes s as Public does, whatever the verb.
func (s Settings) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.Public())) }

// MarshalText does the same for encoders.
func (s Settings) MarshalText() ([]byte, error) { return []byte(s.Public()), nil }

// given reports whether one of these has a value that is not empty.
func (s Settings) given(keywords ...string) bool {
	return slices.ContainsFunc(keywords, func(keyword string) bool { return s[keyword] != "" })
}

// Secret reports whether s holds a password or another secret.
func (s Settings) Secret() bool { return s.given(secrets...) }

func isKeyword(word string) bool { return slices.Contains(keywords, word) }

func isSecret(word string) bool { return slices.Contains(secrets, word) }

// sorted returns the keywords of s in the order of keywords.
func (s Settings) sorted() []string {
	return slices.DeleteFunc(slices.Clone(keywords), func(keyword string) bool { _, has := s[keyword]; return !has })
}

var escaper = strings.NewReplacer(`\`, `\\`, `'`, `\'`)

// quote writes a value for the parser; it leaves plain values unquoted.
func quote(value string) string {
	if value != "" && !strings.ContainsAny(value, blanks+`'\`) {
		return value
	}
	return "'" + escaper.Replace(value) + "'"
}

// store sets one keyword; as in libpq, the last value counts.
func (s Settings) store(keyword, value string, exposed bool) error {
	if !isKeyword(keyword) {
		return notKeyword(keyword, exposed)
	}
	return s.set(keyword, value)
}

// set refuses an invalid port: it may be half of a password, and logs show everything but
// passwords.
func (s Settings) set(keyword, value string) error {
	s[keyword] = value
	if keyword != "port" {
		return nil
	}
	for port := range strings.SplitSeq(value, ",") {
		if port == "" {
			continue
		}
		if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
			return &Refused{Message: "invalid connection string: a port is a number between 1 and 65535", SQLState: stateValue}
		}
	}
	return nil
}
