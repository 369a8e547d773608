package query

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql/schema"
)

// TestParametersAreOfOneTypeWhateverTheColumns: the program always sends the same types, but a
// column may have another type that fits.
func TestParametersAreOfOneTypeWhateverTheColumns(t *testing.T) {
	t.Parallel()
	parameters := func(t *testing.T, table string) map[string][]uint32 {
		t.Helper()
		conn := servertest.Connect(t, servertest.Database(t))
		servertest.Exec(t, conn, table)
		tasktest.Make(t, conn, schema.Options{Inserter: true, Serving: "postgres"})
		d := described(t, conn)
		all := map[string][]uint32{}
		files, err := filepath.Glob("*.sql")
		if err != nil || len(files) < 40 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(file, ".sql")
			statement, err := conn.Prepare(t.Context(), name, Of(d, task).Text(name))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			all[name] = statement.ParamOIDs
		}
		return all
	}
	wanted := parameters(t, "")
	complete := servertest.Connect(t, tasktest.Database(t))
	for i := range fitting["text"] {
		columns := []string{"id " + []string{"serial", "bigserial"}[i%2], "input " + fitting["text"][i] + " NOT NULL"}
		for _, c := range servertest.Rows(t, complete, `SELECT quote_ident(attname) AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
			WHERE attrelid = 'task'::regclass AND attnum > 0 AND attgenerated = '' AND attname NOT IN ('id', 'input') ORDER BY attnum`) {
			if types := fitting[c.Text("type")]; len(types) > 0 {
				columns = append(columns, c.Text("name")+" "+types[i%len(types)])
			}
		}
		for name, types := range parameters(t, "CREATE TABLE task ("+strings.Join(columns, ", ")+")") {
			if !slices.Equal(types, wanted[name]) {
				t.Errorf("%s takes %v where columns are %s, and else %v", name, types, strings.Join(columns, ", "), wanted[name])
			}
		}
	}
}

// fitting lists the types that a column may have instead of the wanted one.
var fitting = map[string][]string{
	"integer":                    {"int4"},
	"bigint":                     {"int4", "int8"},
	"bigint[]":                   {"_int4", "_int8"},
	"text":                       {"text", "varchar", "bpchar"},
	`"char"`:                     {"char", "text", "varchar", "bpchar"},
	"boolean":                    {"bool"},
	"interval":                   {"interval"},
	"jsonb":                      {"jsonb"},
	"timestamp with time zone":   {"timestamptz"},
	"timestamp with time zone[]": {"_timestamptz"},
}
