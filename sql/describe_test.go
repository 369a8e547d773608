package sql

import (
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	conn := database(t)
	describe := func() Description {
		t.Helper()
		d, err := Describe(t.Context(), conn, task)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	columns := func() (told string) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), describe().Queries(task).Text("columns"), task.Schema, task.Name).Scan(&told, nil, nil, nil); err != nil {
			t.Fatal(err)
		}
		return told
	}
	if d := describe(); d.Exists {
		t.Errorf("described before it was made: %+v", d)
	}
	install(t, conn, task, nil)
	d := describe()
	if !d.Exists || d.Partitioned || !d.TellsInserts || !d.TellsChanges || d.Version != Version {
		t.Errorf("described as %+v", d)
	}
	equal(t, "copied", strings.Join(d.Copied, " "), `"active" "live" "repeat" "timeout" "count" "max" "delete" "drift" "header" "save" "string" `+
		`"delimiter" "escape" "quote" "data" "group" "input" "null" "remote" "author" "rerun" "cron" "until" "priority" "retry" "backoff" "catchup" `+
		`"overlap" "max_failures" "owner" "key" "on_fail" "notify" "settings"`)
	equal(t, "fingerprint of the same", describe().Fingerprint, d.Fingerprint)

	for _, statement := range []string{
		`ALTER TABLE task ADD COLUMN "a ""b" int`,
		"ALTER TABLE task ALTER COLUMN data TYPE varchar",
		"ALTER TABLE task DISABLE TRIGGER pgtaskd_accept",
		"ALTER TYPE state RENAME TO other",
		"CREATE SCHEMA elsewhere; ALTER TYPE other SET SCHEMA elsewhere",
	} {
		before, told := describe(), columns()
		execute(t, conn, statement)
		if describe().Fingerprint == before.Fingerprint {
			t.Errorf("%s: the fingerprint is the same", statement)
		}
		if columns() == told {
			t.Errorf("%s: nothing tells that it is to be described again", statement)
		}
	}
	d = describe()
	equal(t, "own column", d.Copied[len(d.Copied)-1], `"a ""b"`)
	if d.TellsInserts {
		t.Error("a disabled trigger wakes nobody")
	}
}
