package edit

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"pgtaskd/human"
	"pgtaskd/sql"
	"pgtaskd/web/rows"
	"pgtaskd/work"
)

// Shown are the statement and the command that do the same as an act, to copy.
type Shown struct {
	Do      string `json:"do"`
	SQL     string `json:"sql"`
	Command string `json:"command"`
}

// ShowOne returns how to do an act to one task elsewhere. config is the path of the configuration;
// "": the command names the server instead.
func ShowOne(ctx context.Context, b *rows.Table, d Doing, id int64, config string) (Shown, error) {
	number := strconv.FormatInt(id, 10)
	argument := number
	if id < 0 {
		argument = "-- " + number
	}
	return show(ctx, b, d, "t.id = "+number, command(b.Target, d, config, argument))
}

func show(ctx context.Context, b *rows.Table, d Doing, those, command string) (Shown, error) {
	data := "t.data"
	if d.Data != nil {
		data = literal(*d.Data)
	}
	w, err := words(ctx, b, d.Do, those, literal(cancelled(d.By)), data)
	w[":table"] = sql.Plain(b.Name.Schema, b.Name.Name)
	return Shown{d.Do, strings.TrimSpace(b.Statement("act_"+d.Do, w)) + ";", command}, err
}

// command returns the command that does an act; which are its arguments that select tasks.
func command(t work.Target, d Doing, config string, which ...string) string {
	c := []string{"pgtaskd", "act", d.Do}
	if config != "" {
		c = append(c, "--config", shell(config), "--target", shell(t.Name()))
	} else {
		c = append(c, "--dsn", shell(address(t)), "--target", shell(t.Name()))
	}
	if d.Data != nil {
		c = append(c, "--data="+shell(*d.Data))
	}
	return strings.Join(append(c, which...), " ")
}

// address returns a connection string without passwords.
func address(t work.Target) string {
	var parts []string
	for _, name := range []string{"host", "hostaddr", "port", "dbname", "user", "service"} {
		value := t.Connect[name]
		if value == "" {
			continue
		}
		if !harmless.MatchString(value) {
			value = "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'"
		}
		parts = append(parts, name+"="+value)
	}
	return strings.Join(parts, " ")
}

// literal quotes a text for SQL. Characters that nobody can see are written as escapes, so that what
// is copied is what is shown.
func literal(text string) string {
	if !hides(text) {
		return sql.Literal(text)
	}
	return "E'" + strings.ReplaceAll(escaped(text), "'", "''") + "'"
}

var harmless = regexp.MustCompile(`^[A-Za-z0-9_%+,./:=@-]+$`)

// shell quotes a text as one word for a shell, in the same way.
func shell(text string) string {
	switch {
	case harmless.MatchString(text):
		return text
	case hides(text):
		return "$'" + strings.ReplaceAll(escaped(text), "'", `\'`) + "'"
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// hides reports whether a text has characters that cannot be seen, besides ends of lines and tabs.
func hides(text string) bool {
	return strings.ContainsFunc(text, hidden)
}

func hidden(r rune) bool {
	return r != '\n' && r != '\t' && human.Hidden(r)
}

// escaped writes hidden characters as \uXXXX or \UXXXXXXXX, as SQL and bash read them.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case !hidden(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	return b.String()
}

// ShowMany returns how to do an act to all tasks that pass a filter.
func ShowMany(ctx context.Context, b *rows.Table, d Doing, f *rows.Filter, config string) (Shown, error) {
	least, _, err := b.IDs(ctx, f)
	if err != nil {
		return Shown{}, err
	}
	return show(ctx, b, d, condition(f, least), command(b.Target, d, config, flags(f)...))
}
