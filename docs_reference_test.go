package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
)

// TestReference: the reference has every column, with its type, whether it may be null, and whether
// a setting is its default.
func TestReference(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, row := range columnRow.FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, fmt.Sprint(row[1], " ", typeNames.Replace(row[2]), " ", row[3] == "yes", " ", row[4] != ""))
	}
	slices.Sort(documented)
	if columns := columns(t); !slices.Equal(columns, documented) {
		t.Errorf("the table has\n%s\nthe reference has\n%s", strings.Join(columns, "\n"), strings.Join(documented, "\n"))
	}
}

var (
	columnRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([^|]+?) \\| (yes)? ?\\|[^|]*\\| ?(✓)? ?\\|[^|]*\\|$")
	typeNames = strings.NewReplacer("int8", "bigint", "int4", "integer", "bool", "boolean", "timestamptz", "timestamp with time zone")
)

// columns returns the columns of a new table: name, type, may be null, default from a setting.
func columns(t *testing.T) []string {
	conn := servertest.Connect(t, tasktest.Database(t))
	rows, err := conn.Query(t.Context(), `
		SELECT format('%s %s %s %s', a.attname, a.atttypid::regtype, (NOT a.attnotnull)::text,
			(coalesce(pg_get_expr(d.adbin, d.adrelid), '') LIKE '%pg_task.' || a.attname || '''%')::text)
		FROM pg_attribute AS a LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		WHERE a.attrelid = 'public.task'::regclass AND a.attnum > 0`)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(columns)
	return columns
}

// TestLinks: links from one document into another lead somewhere.
func TestLinks(t *testing.T) {
	t.Parallel()
	places := map[string][]string{}
	for _, file := range documents(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links.FindAllStringSubmatch(string(text), -1) {
			path, place := file, link[2]
			if link[1] != "" {
				path = filepath.Join(filepath.Dir(file), link[1])
			}
			if places[path] == nil {
				target, err := os.ReadFile(path)
				if err != nil {
					t.Errorf("%s: %v", file, err)
				}
				places[path] = append(anchors(string(target)), "")
			}
			if !slices.Contains(places[path], place) {
				t.Errorf("%s: %s has no heading for #%s", file, path, place)
			}
		}
	}
}

var (
	links   = regexp.MustCompile(`\]\(([\w/.-]*)(?:#([\w-]+))?\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	noWord  = regexp.MustCompile(`[^\w -]`)
)

// anchors returns the names by which links reach the headings of a document.
func anchors(text string) (names []string) {
	for _, match := range heading.FindAllStringSubmatch(text, -1) {
		plain := noWord.ReplaceAllString(strings.ToLower(match[1]), "")
		names = append(names, strings.ReplaceAll(plain, " ", "-"))
	}
	return names
}
