package schema

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
	if !d.Exists || d.Partitioned || !d.Waking.Inserts || !d.Waking.Changes {
		t.Errorf("described as %+v", d)
	}
	equal(t, "copied", strings.Join(d.Copied, " "), `"active" "live" "repeat" "timeout" "count" "max" "delete" "drift" "header" "save" "string" `+
		`"delimiter" "escape" "quote" "data" "group" "input" "null" "remote" "author" "rerun" "cron" "until" "priority" "retry" "backoff" "catchup" `+
		`"overlap" "max_failures" "owner" "key" "on_fail" "notify" "settings" "format"`)

	execute(t, conn, `ALTER TABLE task ADD COLUMN "a ""b" int; ALTER TABLE task DISABLE TRIGGER pgtaskd_accept`)
	d = describe()
	equal(t, "own column", d.Copied[len(d.Copied)-1], `"a ""b"`)
	if d.Waking.Inserts {
		t.Error("a disabled trigger wakes nobody")
	}
}
