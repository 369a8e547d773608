package edit

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

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
		data = sql.Literal(*d.Data)
	}
	w, err := words(ctx, b, d.Do, those, sql.Literal(cancelled(d.By)), data)
	return Shown{d.Do, b.Statement("act_"+d.Do, w) + ";", command}, err
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
		if value := t.Connect[name]; value != "" {
			parts = append(parts, fmt.Sprintf("%s='%s'", name, strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value)))
		}
	}
	return strings.Join(parts, " ")
}

var harmless = regexp.MustCompile(`^[A-Za-z0-9_%+,./:=@-]+$`)

// shell quotes a text as one word for a shell.
func shell(text string) string {
	if harmless.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// ShowMany returns how to do an act to all tasks that pass a filter.
func ShowMany(ctx context.Context, b *rows.Table, d Doing, f *rows.Filter, config string) (Shown, error) {
	least, _, err := b.IDs(ctx, f)
	if err != nil {
		return Shown{}, err
	}
	return show(ctx, b, d, condition(f, least), command(b.Target, d, config, flags(f)...))
}
