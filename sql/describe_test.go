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
	if d := describe(); d.Exists {
		t.Errorf("described before it was made: %+v", d)
	}
	install(t, conn, task, nil)
	d := describe()
	if !d.Exists || d.Partitioned || !d.TellsInserts || !d.TellsChanges || d.Version != Version {
		t.Errorf("described as %+v", d)
	}
	equal(t, "state", d.StateType, "public.state")
	equal(t, "copied", strings.Join(d.Copied, " "), `"active" "live" "repeat" "timeout" "count" "max" "delete" "drift" "header" "save" "string" `+
		`"delimiter" "escape" "quote" "data" "group" "input" "null" "remote" "author" "rerun" "cron" "until" "priority" "retry" "backoff" "catchup" `+
		`"overlap" "max_failures" "owner" "key" "on_fail" "notify" "settings"`)
	equal(t, "fingerprint of the same", describe().Fingerprint, d.Fingerprint)

	for _, statement := range []string{
		`ALTER TABLE task ADD COLUMN "a ""b" int`,
		"ALTER TABLE task ALTER COLUMN data TYPE varchar",
		"ALTER TABLE task DISABLE TRIGGER pgtaskd_accept",
	} {
		before := describe()
		execute(t, conn, statement)
		if describe().Fingerprint == before.Fingerprint {
			t.Errorf("%s: the fingerprint is the same", statement)
		}
	}
	d = describe()
	equal(t, "own column", d.Copied[len(d.Copied)-1], `"a ""b"`)
	if d.TellsInserts {
		t.Error("a disabled trigger wakes nobody")
	}
}
