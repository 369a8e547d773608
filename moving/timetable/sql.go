package timetable

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgtaskd/moving"
)

// title returns the name of a task.
func (t Task) title() string {
	if t.Name != "" {
		return t.Name
	}
	return fmt.Sprintf("task %d", t.ID)
}

// sql returns the SQL of a task: its command, once with each of its parameters.
func (t Task) sql() string {
	command := strings.TrimRight(strings.TrimSpace(t.Command), ";") + ";"
	if last := command[strings.LastIndexByte(command, '\n')+1:]; strings.Contains(last, "--") {
		command = command[:len(command)-1] + "\n;"
	}
	lists := t.arguments()
	if len(lists) == 0 {
		return command
	}
	name := fmt.Sprintf("task_%d", t.ID)
	text := fmt.Sprintf("PREPARE %s AS %s", name, command)
	for _, list := range lists {
		text += fmt.Sprintf(" EXECUTE %s(%s);", name, strings.Join(list, ", "))
	}
	return text + " DEALLOCATE " + name + ";"
}

// arguments returns the lists of parameters that are not empty, as SQL.
func (t Task) arguments() (lists [][]string) {
	for _, p := range t.Parameters {
		var values []json.RawMessage
		if json.Unmarshal(p, &values) != nil {
			continue // unbound reports it
		}
		list := make([]string, len(values))
		for i, v := range values {
			list[i] = literal(v)
		}
		if len(list) > 0 {
			lists = append(lists, list)
		}
	}
	return lists
}

// literal writes a JSON value as an argument. The server infers its type, as it does for
// pg_timetable.
func literal(v json.RawMessage) string {
	text := string(bytes.TrimSpace(v))
	var word string
	switch {
	case text == "null":
		return "NULL"
	case json.Unmarshal(v, &word) == nil:
		text = word
	}
	if strings.Contains(text, `\`) {
		return "E'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(text) + "'"
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// preparable matches the beginning of a statement that takes parameters.
var preparable = regexp.MustCompile(`(?i)^\s*(select|insert|update|delete|values|with|merge)\b`)

// unbound says why a task's command cannot take its parameters; "" if it can.
func (t Task) unbound() string {
	for _, p := range t.Parameters {
		if trimmed := bytes.TrimSpace(p); len(trimmed) == 0 || trimmed[0] != '[' {
			return "its parameters are no array"
		}
	}
	if len(t.arguments()) == 0 || preparable.MatchString(t.Command) {
		return ""
	}
	return "it has parameters, and is no statement that PREPARE takes: write them into it"
}

// ignoring wraps SQL so that its failure does not stop the rest.
func ignoring(sql string) string {
	return "DO " + moving.Dollars("ignore", "BEGIN EXECUTE "+moving.Dollars("sql", sql)+"; EXCEPTION WHEN OTHERS THEN RAISE WARNING '%', SQLERRM; END") + ";"
}

// unlessGone wraps the SQL of on_fail: pg_timetable does not run it for a run that was missed.
func unlessGone(table, sql string) string {
	return "DO " + moving.Dollars("on_error", fmt.Sprintf(`
BEGIN
    IF EXISTS (SELECT FROM %[1]s AS t JOIN %[1]s AS f ON f.id = t.parent
        WHERE t.id = pg_catalog.current_setting('pg_task.id')::pg_catalog.int8 AND f.state = 'FAIL')
    THEN
        EXECUTE %[2]s;
    END IF;
END
`, table, moving.Dollars("sql", sql)))
}

// as runs SQL under another role, as pg_timetable does.
func (p Place) as(t Task, sql string) string {
	if t.RunAs == "" || t.RunAs == p.User {
		return sql
	}
	return "SET LOCAL ROLE " + pgx.Identifier{t.RunAs}.Sanitize() + "; " + sql + " RESET ROLE;"
}
