package conf

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/rs/zerolog"

	"pgtaskd/remote"
	"pgtaskd/work/schedule"
	"pgtaskd/work/target"
)

// into reads a setting, or reports the fault of its value.
func into[T any](r *reader, setting *T, read func(value) (T, error)) func(value) {
	return func(v value) {
		if got, err := read(v); err != nil {
			r.fault(v, "%v", err)
		} else {
			*setting = got
		}
	}
}

// nonEmpty reads a text that is not empty. Its faults do not show the text.
func nonEmpty(v value) (string, error) {
	switch {
	case v.kind != text:
		return "", fmt.Errorf("must be a string, not %s", v.kind)
	case v.text == "":
		return "", errors.New("must not be empty")
	}
	return v.text, nil
}

// identifier reads a name. PostgreSQL silently cuts long names, so two names could mean the same
// thing.
func identifier(v value) (string, error) {
	const longest = 63
	switch {
	case v.kind != text:
		return "", fmt.Errorf("must be a string, not %s", shown(v))
	case len(v.text) > longest:
		return "", fmt.Errorf("must not be longer than %d bytes", longest)
	case strings.Contains(v.text, "\x00"):
		return "", errors.New("must not contain a zero byte")
	}
	return nonEmpty(v)
}

// identifiers reads names, and reports duplicates.
func (r *reader) identifiers(items []value) (names []string) {
	return each(r, items, identifier)
}

// each reads some values, and reports duplicates.
func each(r *reader, items []value, read func(value) (string, error)) (all []string) {
	for _, item := range items {
		one := ""
		into(r, &one, read)(item)
		if one != "" && slices.Contains(all, one) {
			r.fault(item, "is named twice")
		} else if one != "" {
			all = append(all, one)
		}
	}
	return all
}

// whole reads a whole number, written as 1000, 1000.0 or 1e3. The text what describes it, with its
// least value.
func whole(what string, least, most int64) func(value) (int64, error) {
	return func(v value) (int64, error) {
		f, err := strconv.ParseFloat(v.text, 64)
		n := int64(f)
		switch {
		case v.kind != number || err != nil || float64(n) != f || n < least:
			return 0, fmt.Errorf("must be %s, not %s", what, shown(v))
		case n > most:
			return 0, fmt.Errorf("must be at most %d, not %s", most, shown(v))
		}
		return n, nil
	}
}

func yesOrNo(v value) (bool, error) {
	if v.kind != boolean {
		return false, fmt.Errorf("must be true or false, not %s", shown(v))
	}
	return v.text == "true", nil
}

// dsn reads a connection string. It may hold a password, so faults do not show it.
func (r *reader) dsn(v value) (remote.Settings, error) {
	if v.kind != text {
		return nil, fmt.Errorf("must be a connection string, not %s", v.kind)
	}
	settings, err := remote.Parse(v.text)
	r.secret = r.secret || err == nil && settings.Secret()
	return settings, err
}

// columns reads the defaults of columns, as text.
func (r *reader) columns(v value) map[string]string {
	defaults, known := map[string]string{}, keys{}
	for _, f := range v.fields {
		known[f.key] = func(v value) {
			switch v.kind {
			case object, list, null:
				r.fault(v, "must be a string, a number, true or false, not %s", v.kind)
			default:
				defaults[f.key] = v.text
				settings, err := remote.Parse(v.text) // of the column remote, or of a user's own column
				r.secret = r.secret || err == nil && settings.Secret()
			}
		}
	}
	r.object(v, known)
	return defaults
}

// choice reads one of a few words.
func choice[T ~string](words ...T) func(value) (T, error) {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = string(word)
	}
	return func(v value) (T, error) {
		if v.kind != text || !slices.Contains(all, v.text) {
			return "", fmt.Errorf("must be one of %s, not %s%s", strings.Join(all, ", "), shown(v), DidYouMean(v.text, all))
		}
		return T(v.text), nil
	}
}

// Log says which lines are logged, and in which format.
type Log struct {
	Level  zerolog.Level // the least important
	Format string        // FormatJSON, FormatText or FormatJournal; "": text on a terminal, else JSON
	Tasks  string        // which tasks: target.LogFailed, target.LogAll or target.LogNone
}

// Formats of the log.
const (
	FormatJSON    = "json"
	FormatText    = "text"
	FormatJournal = "journal" // text with the priority in front, as sd-daemon(3) describes
)

// log reads the settings of the log.
func (r *reader) log(v value) Log {
	l := Log{Level: zerolog.InfoLevel, Tasks: target.LogFailed}
	level := l.Level.String()
	r.object(v, keys{
		"level":  into(r, &level, choice("trace", "debug", "info", "warn", "error")),
		"format": into(r, &l.Format, choice(FormatJSON, FormatText, FormatJournal)),
		"tasks":  into(r, &l.Tasks, choice(target.LogFailed, target.LogAll, target.LogNone)),
	})
	l.Level, _ = zerolog.ParseLevel(level) // choice lets only known names pass
	return l
}

// timeZone reads the name of a time zone.
func timeZone(v value) (string, error) {
	if v.kind != text {
		return "", fmt.Errorf("must be a string, not %s", shown(v))
	}
	if _, err := schedule.LoadZone(v.text); err != nil {
		return "", fmt.Errorf("must be the name of a time zone, such as Europe/Berlin, not %s", shown(v))
	}
	return v.text, nil
}

// hostPort reads an address: a host and the number of a port.
func hostPort(v value) (string, error) {
	const example = `an address such as "127.0.0.1:8080"`
	host, port, err := net.SplitHostPort(v.text)
	n, wrong := strconv.ParseUint(port, 10, 16)
	switch {
	case v.kind != text:
		return "", fmt.Errorf("must be %s, not %s", example, shown(v))
	case err != nil || wrong != nil || port != strconv.FormatUint(n, 10) || strings.ContainsFunc(host, isOdd):
		return "", fmt.Errorf("must be %s, with the number of a port up to 65535, not %s", example, shown(v))
	}
	return v.text, nil
}

// isOdd reports characters that no host name has.
func isOdd(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`/\@?#`, r) }

// trust reads a list of role names.
func (r *reader) trust(v value) []string {
	const everybody = "PUBLIC" // PostgreSQL's name for all roles together
	if v.kind != list {
		r.fault(v, `must be a list of roles, such as ["app_owner"], not %s`, shown(v))
	}
	for _, item := range v.items {
		if item.text == "public" { // no role can have this name
			r.fault(item, "must be the name of a role, not %s; did you mean %q?", shown(item), everybody)
		}
	}
	return r.identifiers(v.items)
}

// roles reads the roles under which tasks may run: a list of names, or an object that says for each
// name where its password comes from.
func (r *reader) roles(v value) map[string]remote.Credential {
	all := map[string]remote.Credential{}
	switch v.kind {
	case list:
		for _, role := range r.identifiers(v.items) {
			all[role] = remote.Credential{}
		}
	case object:
		for _, f := range v.fields {
			if _, err := identifier(value{kind: text, text: f.key}); err != nil {
				r.fault(value{place: f.value.place, offset: f.offset}, "%v", err)
			}
			all[f.key] = r.credential(f.value)
		}
	default:
		r.fault(v, `must be an object of roles, such as {"alice": {}}, or a list of them, not %s`, v.kind)
	}
	return all
}

func (r *reader) credential(v value) (c remote.Credential) {
	r.object(v, keys{"password_file": into(r, &c.File, nonEmpty), "password_command": into(r, &c.Command, nonEmpty)})
	if c.File != "" && c.Command != "" {
		r.fault(v, `has "password_file" or "password_command", not both`)
	}
	return c
}
