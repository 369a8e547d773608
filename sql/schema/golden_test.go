package schema

import (
	"flag"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/major"
)

var update = flag.Bool("update", false, "write testdata/schema.golden again")

// The schema is a promise to users who insert tasks: a change of it must be seen in review, and
// must raise Version if existing tables have to be told apart.
func TestSchemaIsAsCommitted(t *testing.T) {
	t.Parallel()
	conn := database(t)
	install(t, conn, task, nil)
	dump, err := os.ReadFile("testdata/dump.sql")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(t.Context(), string(dump), pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	// Differs between databases.
	got := regexp.MustCompile(`(?m) #[-0-9]+$`).ReplaceAllString(strings.Join(lines, "\n"), " #") + "\n"
	if major.Maintain.Of(conn) {
		got = strings.ReplaceAll(got, "=arwdDxtm/", "=arwdDxt/")
	}
	if *update {
		if err := os.WriteFile("testdata/schema.golden", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/schema.golden")
	if err != nil {
		t.Fatal(err)
	}
	wanted := strings.Split(string(want), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(wanted) || line != wanted[i] {
			t.Fatalf("line %d of the schema is not that of testdata/schema.golden (-update writes it again): %s", i+1, line)
		}
	}
	equal(t, "length of the schema", strconv.Itoa(len(got)), strconv.Itoa(len(want)))
}
