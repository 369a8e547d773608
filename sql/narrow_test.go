package sql

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
)

// TestParametersAreOfOneTypeWhateverTheColumns: the program sends values of the types that it has,
// and a column may be of another one that fits.
func TestParametersAreOfOneTypeWhateverTheColumns(t *testing.T) {
	t.Parallel()
	parameters := func(t *testing.T, table string) map[string][]uint32 {
		t.Helper()
		conn := connect(t, servertest.Database(t))
		execute(t, conn, table)
		if _, err := Install(t.Context(), conn, task, Options{Inserter: true, Serving: "postgres"}); err != nil {
			t.Fatal(err)
		}
		d, err := Describe(t.Context(), conn, task)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string][]uint32{}
		for _, name := range slices.Sorted(maps.Keys(operations())) {
			statement, err := conn.Prepare(t.Context(), name, d.Queries(task).Text(name))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			all[name] = statement.ParamOIDs
		}
		return all
	}
	wanted := parameters(t, "")
	for i := range fitting["text"] {
		columns := []string{"id " + []string{"serial", "bigserial"}[i%2], "input " + fitting["text"][i] + " NOT NULL"}
		for _, c := range wantedColumns() {
			if types := fitting[c.typ]; len(types) > 0 && !c.generated && c.name != "input" {
				columns = append(columns, pgx.Identifier{c.name}.Sanitize()+" "+types[i%len(types)])
			}
		}
		for name, types := range parameters(t, "CREATE TABLE task ("+strings.Join(columns, ", ")+")") {
			if !slices.Equal(types, wanted[name]) {
				t.Errorf("%s takes %v where columns are %s, and else %v", name, types, strings.Join(columns, ", "), wanted[name])
			}
		}
	}
}
