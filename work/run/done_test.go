package run

import "testing"

// TestOnlyParametersAreListed: what stands in names, literals and comments stays.
func TestOnlyParametersAreListed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`SELECT $1, $12::int8 - 1`:                             `SELECT ($1)[6], ($1)[17]::int8 - 1`,
		`UPDATE "a$1 ""$2"" '$3".t SET x = '"$4'' $5', y = $1`: `UPDATE "a$1 ""$2"" '$3".t SET x = '"$4'' $5', y = ($1)[6]`,
		"SELECT 1 -- the task's $1\n, $2":                      "SELECT 1 -- the task's $1\n, ($1)[7]",
		`SELECT E'a\\$1', "--$2", $3`:                          `SELECT E'a\\$1', "--$2", ($1)[8]`,
		``:                                                     ``,
	} {
		if got := listed(text, 5); got != want {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}
