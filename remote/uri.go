package remote

import (
	"net/url"
	"strings"
)

// parseURI reads the part after postgres:// by libpq's rules, which net/url does not follow:
// several hosts, empty ones, and sockets, as in %2Frun.
func parseURI(s string) (Settings, error) {
	settings := Settings{}
	// An @ before the path always ends the credentials.
	if i := strings.IndexAny(s, "@/"); i >= 0 && s[i] == '@' {
		user, password, _ := strings.Cut(s[:i], ":")
		if strings.Contains(user, "?") { // postgres://host?password=a@b
			return nil, misplacedAt()
		}
		if err := settings.decode("user", user, "password", password); err != nil {
			return nil, err
		}
		s = s[i+1:]
	}
	location, query, _ := strings.Cut(s, "?")
	if strings.Contains(location, "@") {
		return nil, misplacedAt()
	}
	hosts, ports, path, err := cutHosts(location)
	if err != nil {
		return nil, err
	}
	if err := settings.decode("host", hosts, "port", ports, "dbname", strings.TrimPrefix(path, "/")); err != nil {
		return nil, err
	}
	if err := settings.parseQuery(query); err != nil {
		return nil, err
	}
	return settings, nil
}

// cutHosts cuts host[:port],host[:port]… off s. The returned lists have equal length, with "" for
// missing parts.
func cutHosts(s string) (hosts, ports, rest string, err error) {
	var h, p strings.Builder
	for {
		host, port := "", ""
		if strings.HasPrefix(s, "[") {
			if host, s, err = cutBracket(s[1:]); err != nil {
				return "", "", "", err
			}
		} else {
			host, s = cutAny(s, ":/,")
		}
		if strings.HasPrefix(s, ":") {
			port, s = cutAny(s[1:], "/,")
		}
		h.WriteString(host)
		p.WriteString(port)
		if !strings.HasPrefix(s, ",") {
			return h.String(), p.String(), s, nil
		}
		h.WriteByte(',')
		p.WriteByte(',')
		s = s[1:]
	}
}

// cutBracket cuts an IPv6 address and its closing bracket off s.
func cutBracket(s string) (host, rest string, err error) {
	host, rest, found := strings.Cut(s, "]")
	switch {
	case !found:
		return "", "", syntax(`the URI has no "]" after an IPv6 address`, "")
	case host == "":
		return "", "", syntax("an IPv6 address in the URI is empty", "")
	case rest != "" && !strings.ContainsRune(":/,", rune(rest[0])):
		return "", "", syntax(`":" or "/" is expected after the IPv6 address in the URI`, "")
	}
	return host, rest, nil
}

// cutAny cuts s before the first of these characters.
func cutAny(s, signs string) (before, rest string) {
	if i := strings.IndexAny(s, signs); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// parseQuery reads keyword=value&keyword=value. The last value of a keyword counts, also against
// the part before the question mark.
func (s Settings) parseQuery(query string) error {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		rawKeyword, rawValue, found := strings.Cut(pair, "=")
		keyword, ok := decodeURI(rawKeyword)
		if !ok || !found || strings.Contains(rawValue, "=") {
			return syntax("a parameter of the URI is not of the form keyword=value", "")
		}
		value, ok := decodeURI(rawValue)
		if !ok {
			return badEncoding()
		}
		if keyword == "ssl" && value == "true" { // as JDBC writes it
			keyword, value = "sslmode", "require"
		}
		// The rest of a password after an unencoded & looks like a keyword.
		if err := s.store(keyword, value, s.given(secrets...)); err != nil {
			return err
		}
	}
	return nil
}

// decode stores parts of the URI, each after its keyword; it skips empty parts.
func (s Settings) decode(parts ...string) error {
	for ; len(parts) > 1; parts = parts[2:] {
		value, ok := decodeURI(parts[1])
		if !ok {
			return badEncoding()
		}
		if parts[1] == "" {
			continue
		}
		if err := s.set(parts[0], value); err != nil {
			return err
		}
	}
	return nil
}

// decodeURI resolves %XX. It drops spaces at the ends, and refuses others.
func decodeURI(raw string) (string, bool) {
	value, err := url.PathUnescape(strings.Trim(raw, " "))
	ok := err == nil && !strings.Contains(strings.Trim(raw, " "), " ") && !strings.Contains(value, "\x00")
	return value, ok
}

// misplacedAt is the error for a bare @ or / in a password: half of the password would be taken for
// a host, a user or a database, and shown. (libpq accepts it, and tries to connect there.)
func misplacedAt() error {
	return syntax(`an "@" in the URI is not where the password ends`,
		"Within a user, a password or a database write @ as %40, / as %2F, ? as %3F.")
}

func badEncoding() error {
	return syntax("a part of the URI has an invalid percent-encoding",
		"Write a space as %20, % as %25, @ as %40, / as %2F, & as %26.")
}
