package conf

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"pgtaskd/remote"
	"pgtaskd/work/schedule"
)

// name reads an identifier. PostgreSQL cuts longer ones without a word, so that
// two different names could mean one thing.
func (r *reader) name(into *string) func(value) {
	const longest = 63
	return func(v value) {
		switch {
		case v.kind != text:
			r.fault(v, "must be a string, not %s", shown(v))
		case v.text == "":
			r.fault(v, "must not be empty")
		case len(v.text) > longest:
			r.fault(v, "must not be longer than %d bytes", longest)
		case strings.Contains(v.text, "\x00"):
			r.fault(v, "must not contain a zero byte")
		default:
			*into = v.text
		}
	}
}

// whole reads a whole number; what is the text of an error about it: of which things it is a
// number, and its least.
func (r *reader) whole(into *int64, what string, least, most int64) func(value) {
	return func(v value) {
		n, ok := integer(v)
		switch {
		case !ok || n < least:
			r.fault(v, "must be %s, not %s", what, shown(v))
		case n > most:
			r.fault(v, "must be at most %d, not %s", most, shown(v))
		default:
			*into = n
		}
	}
}

// integer is the value of a whole number, written as 1000, 1000.0 or 1e3.
func integer(v value) (int64, bool) {
	if v.kind != number {
		return 0, false
	}
	if n, err := strconv.ParseInt(v.text, 10, 64); err == nil {
		return n, true
	}
	const exact = 1 << 53
	f, err := strconv.ParseFloat(v.text, 64)
	n := int64(f)
	return n, err == nil && f >= -exact && f <= exact && float64(n) == f
}

func (r *reader) duration(into *time.Duration, least time.Duration) func(value) {
	return func(v value) {
		if v.kind != text {
			r.fault(v, "%v, not %s", schedule.ErrNoInterval, shown(v))
			return
		}
		d, err := parseInterval(v.text)
		switch {
		case err != nil:
			r.fault(v, "%v, not %s", err, shown(v))
		case d < least:
			r.fault(v, "must be at least %d ms, not %s", least.Milliseconds(), shown(v))
		default:
			*into = d
		}
	}
}

func (r *reader) flag(into *bool) func(value) {
	return func(v value) {
		if v.kind != boolean {
			r.fault(v, "must be true or false, not %s", shown(v))
			return
		}
		*into = v.text == "true"
	}
}

// dsn reads a connection string. It may hold a password: faults show nothing of it.
func (r *reader) dsn(into *remote.Settings) func(value) {
	return func(v value) {
		if v.kind != text {
			r.fault(v, "must be a connection string, not %s", v.kind)
			return
		}
		settings, err := remote.Parse(v.text)
		if err != nil {
			r.fault(v, "%v", err)
			return
		}
		r.secret = r.secret || settings.Secret()
		*into = settings
	}
}

// columns reads the defaults of columns, as text.
func (r *reader) columns(into map[string]string) func(value) {
	return func(v value) {
		known := keys{}
		for _, f := range v.fields {
			known[f.key] = func(v value) {
				switch v.kind {
				case object, list, null:
					r.fault(v, "must be a string, a number, true or false, not %s", v.kind)
				default:
					into[f.key] = v.text
					settings, err := remote.Parse(v.text) // that of remote, or of a column of the user's
					r.secret = r.secret || err == nil && settings.Secret()
				}
			}
		}
		r.object(v, known)
	}
}

// choice reads one of a few words.
func (r *reader) choice(into *string, words ...string) func(value) {
	return func(v value) {
		if v.kind != text || !slices.Contains(words, v.text) {
			r.fault(v, "must be one of %s, not %s%s", strings.Join(words, ", "), shown(v), DidYouMean(v.text, words))
			return
		}
		*into = v.text
	}
}

// http reads where the metrics are served.
func (r *reader) http(listen *string) func(value) {
	return func(v value) {
		given := false
		r.object(v, keys{"listen": func(v value) { given = true; r.address(listen)(v) }})
		if v.kind == object && !given {
			r.fault(v, `"listen" is missing`)
		}
	}
}

// zone reads the name of a time zone.
func (r *reader) zone(into *string) func(value) {
	return func(v value) {
		switch {
		case v.kind != text:
			r.fault(v, "must be a string, not %s", shown(v))
		default:
			if _, err := schedule.LoadZone(v.text); err != nil {
				r.fault(v, "must be the name of a time zone, such as Europe/Berlin, not %s", shown(v))
				return
			}
			*into = v.text
		}
	}
}

// address reads a host and the number of a port.
func (r *reader) address(into *string) func(value) {
	return func(v value) {
		const example = `an address such as "127.0.0.1:8080"`
		host, port, err := net.SplitHostPort(v.text)
		n, wrong := strconv.ParseUint(port, 10, 16)
		switch {
		case v.kind != text:
			r.fault(v, "must be %s, not %s", example, shown(v))
		case err != nil || wrong != nil || port != strconv.FormatUint(n, 10) || strings.ContainsFunc(host, isOdd):
			r.fault(v, "must be %s, with the number of a port up to 65535, not %s", example, shown(v))
		default:
			*into = v.text
		}
	}
}

// isOdd tells characters that no name of a host has.
func isOdd(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`/\@?#`, r) }
