package conf

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"regexp"
	"strings"

	"pgtaskd/remote"
)

// HTTP says where and to whom the page, the metrics and the health are served.
type HTTP struct {
	Listen    string   // an address, as 127.0.0.1:8432; "": nothing is served
	Prefix    string   // of the page's paths, as /jobs; "": none
	Hosts     []string // names of this server beside the address, in lower case
	Users     []User   // who may log in; none: everybody on this machine may look, nobody may act
	Cert, Key string   // files for TLS; "": no TLS
	Hide      []string // columns that readers do not see
	File      string   // the configuration, for commands to copy; "": there is none that can be read again
}

// User is somebody who may log in to the page.
type User struct {
	Name     string
	Token    string
	Operator bool // else a reader

	file string // that has the token
}

// Columns that can be hidden from readers.
const (
	HideData   = "data"
	HideInput  = "input"
	HideOutput = "output"
)

const (
	operator = "operator"
	reads    = "reader"
)

// http reads the settings of the HTTP server.
func (r *reader) http(v value) (h HTTP) {
	var cert, key value
	r.object(v, keys{
		"listen": into(r, &h.Listen, hostPort),
		"prefix": into(r, &h.Prefix, prefix),
		"hosts":  func(v value) { h.Hosts = r.texts(v, `["jobs.example.org"]`, hostName) },
		"users":  func(v value) { h.Users = r.users(v) },
		"cert":   func(v value) { cert = v; into(r, &h.Cert, nonEmpty)(v) },
		"key":    func(v value) { key = v; into(r, &h.Key, nonEmpty)(v) },
		"hide":   func(v value) { h.Hide = r.texts(v, `["data"]`, choice(HideData, HideInput, HideOutput)) },
	})
	switch {
	case v.kind != object:
	case !v.has("listen"):
		r.fault(v, `"listen" is missing`)
	case v.has("cert") != v.has("key"):
		r.fault(v, `TLS needs both "cert" and "key"`)
	case h.Cert != "" && h.Key != "":
		r.pair(cert, key)
	}
	return h
}

// pair looks whether the files have a certificate and its key.
func (r *reader) pair(cert, key value) {
	certText, certErr := remote.ReadFile(cert.text)
	if certErr != nil {
		r.missing(cert, certErr)
	}
	keyText, keyErr := remote.ReadFile(key.text)
	if keyErr != nil {
		r.missing(key, keyErr)
	}
	if certErr != nil || keyErr != nil {
		return
	}
	if _, err := tls.X509KeyPair(certText, keyText); err != nil {
		r.missing(cert, fmt.Errorf("%s and %s: %w", cert.text, key.text, err))
	}
}

// missing reports a file that the server needs and the commands do not.
func (r *reader) missing(v value, err error) {
	r.files = append(r.files, Fault{position(r.data, v.offset), v.place, err.Error()})
}

// users reads who may log in. No two have the same name or token.
func (r *reader) users(v value) (all []User) {
	if v.kind != list {
		r.fault(v, `must be a list such as [{"name": "ann", "token_file": "…", "role": "operator"}], not %s`, shown(v))
	}
	for _, item := range v.items {
		one, role, file := User{}, "", value{}
		r.object(item, keys{
			"name":       into(r, &one.Name, identifier),
			"token_file": func(v value) { file = v; into(r, &one.file, nonEmpty)(v) },
			"role":       into(r, &role, choice(operator, reads)),
		})
		for _, key := range []string{"name", "token_file", "role"} {
			if item.kind == object && !item.has(key) {
				r.fault(item, "%q is missing", key)
			}
		}
		if one.Operator = role == operator; one.file != "" {
			var err error
			if one.Token, err = token(one.file); err != nil {
				r.missing(file, err)
			}
		}
		for _, other := range all {
			if one.Name != "" && other.Name == one.Name {
				r.fault(item, "the user %q is named twice", one.Name)
			} else if one.Token != "" && other.Token == one.Token {
				r.missing(file, fmt.Errorf("%s has the same token as the user %q", one.file, other.Name))
			}
		}
		all = append(all, one)
	}
	return all
}

// token reads the one line of a token file. Errors never show it.
func token(path string) (string, error) {
	text, err := remote.ReadFile(path)
	if err != nil {
		return "", err
	}
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return "", fmt.Errorf("%s is empty: write a token into it, such as openssl rand -hex 32 prints", path)
	case bytes.ContainsAny(text, "\x00\r\n") || len(bytes.TrimSpace(text)) < len(text):
		return "", fmt.Errorf("%s must have one line, the token, without spaces around it", path)
	}
	return string(text), nil
}

// texts reads a list of texts.
func (r *reader) texts(v value, example string, read func(value) (string, error)) []string {
	if v.kind != list {
		r.fault(v, "must be a list such as %s, not %s", example, shown(v))
	}
	return each(r, v.items, read)
}

var plainPath = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?$`)

// prefix reads the path below which a proxy serves the page.
func prefix(v value) (string, error) {
	if v.kind != text || !plainPath.MatchString(v.text) {
		return "", fmt.Errorf(`must be a path such as "/jobs", of letters, digits and ._~-, not %s`, shown(v))
	}
	return strings.TrimSuffix(v.text, "/"), nil
}

// hostName reads the name or number of a host.
func hostName(v value) (string, error) {
	name := strings.ToLower(strings.TrimSuffix(v.text, "."))
	_, err := netip.ParseAddr(name)
	if v.kind != text || name == "" || err != nil && strings.ContainsFunc(name, func(c rune) bool { return c == ':' || c == '*' || isOdd(c) }) {
		return "", fmt.Errorf(`must be the name of a host without a port, such as "jobs.example.org", not %s`, shown(v))
	}
	return name, nil
}

// Servable returns the faults of files that only a server of the page reads: those with tokens and
// certificates.
func (f *File) Servable() error { return f.files.Err() }

// Closed says why the page is not served, and what to write; "" if it is.
func (h HTTP) Closed() string {
	at, err := net.ResolveTCPAddr("tcp", h.Listen)
	if h.Listen == "" || err != nil {
		return ""
	}
	return h.ClosedAt(at)
}

// ClosedAt is Closed for the address on which a server listens.
func (h HTTP) ClosedAt(bound net.Addr) string {
	if at, is := bound.(*net.TCPAddr); len(h.Users) > 0 || is && at.IP.IsLoopback() {
		return ""
	}
	return `the page is not served, only health and metrics: http.listen is not a loopback address, and there are no users; write "users": [{"name": "ann", "token_file": "…", "role": "operator"}] into "http"`
}

// stamp changes with the token files.
func (h HTTP) stamp() (text string) {
	for _, u := range h.Users {
		info, err := os.Stat(u.file)
		if err != nil {
			text += fmt.Sprintln(u.file, errors.Unwrap(err))
		} else {
			text += fmt.Sprintln(u.file, info.Size(), info.ModTime().UnixNano())
		}
	}
	return text
}
