package remote

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Settings are the parameters of a connection under libpq's keywords: host, hostaddr, port, dbname,
// user, password and so on. An empty value is one that was written down as empty; a keyword that is
// absent was left out.
//
// fmt shows them by Public, so that a %v in a log can't betray a password.
type Settings map[string]string

// blanks are the characters that C's isspace takes for space.
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

// secrets are the keywords whose values nobody but the server may see.
var secrets = []string{"password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret"}

// With returns a copy of s in which overrides replace values of s; an empty value removes its
// keyword.
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

// String returns s as a keyword/value string, secrets included: Parse reads it back to the same
// settings, and equal settings give equal strings.
func (s Settings) String() string {
	var pairs []string
	for _, keyword := range s.sorted() {
		pairs = append(pairs, keyword+"="+quote(s[keyword]))
	}
	return strings.Join(pairs, " ")
}

// Public returns s as String does, but without any secret: for logs and errors.
func (s Settings) Public() string {
	shown := maps.Clone(s)
	maps.DeleteFunc(shown, func(keyword, _ string) bool { return isSecret(keyword) })
	return shown.String()
}

// Format writes s as Public does, whatever the verb.
func (s Settings) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.Public())) }

// MarshalText does the same for encoders.
func (s Settings) MarshalText() ([]byte, error) { return []byte(s.Public()), nil }

// given reports whether s has a value, and not an empty one, for one of them.
func (s Settings) given(keywords ...string) bool {
	return slices.ContainsFunc(keywords, func(keyword string) bool { return s[keyword] != "" })
}

// Secret reports whether s holds a password, or another secret.
func (s Settings) Secret() bool { return s.given(secrets...) }

func isKeyword(word string) bool { return slices.Contains(keywords, word) }

func isSecret(word string) bool { return slices.Contains(secrets, word) }

// sorted are the keywords of s, in the order of keywords. There are no others.
func (s Settings) sorted() []string {
	return slices.DeleteFunc(slices.Clone(keywords), func(keyword string) bool { _, has := s[keyword]; return !has })
}

var escaper = strings.NewReplacer(`\`, `\\`, `'`, `\'`)

// quote writes a value so that the parser gives it back; plain ones as they are.
func quote(value string) string {
	if value != "" && !strings.ContainsAny(value, blanks+`'\`) {
		return value
	}
	return "'" + escaper.Replace(value) + "'"
}

// store sets one keyword, as libpq does: the last value counts.
func (s Settings) store(keyword, value string, exposed bool) error {
	if !isKeyword(keyword) {
		return notKeyword(keyword, exposed)
	}
	return s.set(keyword, value)
}

// set refuses a port that is none: it may be half of a password, and everything but passwords is
// shown in logs.
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
