package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestNextPrintsTheRunsOfAnExpression(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args   []string
		want   string
		status int
	}{
		{[]string{"30 2 * * *", "--zone", "Europe/Berlin", "--from", "2026-03-28", "-n", "3"}, "2026-03-28T02:30:00+01:00\n2026-03-29T03:00:00+02:00\n2026-03-30T02:30:00+02:00\n", 0},
		{[]string{"CRON_TZ=Asia/Tokyo @daily", "--zone", "Europe/Berlin", "--from", "2026-03-28", "-n", "1"}, "2026-03-29T00:00:00+09:00\n", 0},
		{[]string{"@every 0.5 s", "--zone", "UTC", "--from", "2026-03-28T01:00:00+01:00", "-n", "1"}, "2026-03-28T00:00:00.5Z\n", 0},
		{[]string{"61 * * * *"}, `pgtaskd: minute "61" at character 1 is not from 0 to 59`, 1},
		{[]string{"* * \x1b[31m * *"}, "pgtaskd: cron has a character that is not plain ASCII at character 5", 1},
		{[]string{strings.Repeat("x", 1<<17)}, "pgtaskd: cron is longer than 1 kB", 1},
		{[]string{"@daily", "--zone", "\x1b"}, `pgtaskd: --zone "\x1b" is not known: a zone is a name of the tz database, such as Europe/Berlin`, 1},
		{[]string{"@daily", "--from", "\x1b"}, `pgtaskd: --from "\x1b" is neither a day such as 2026-03-29 nor a time such as 2026-03-29T01:00:00+01:00`, 1},
		{[]string{"@daily", "-n", "0"}, "pgtaskd: -n must be at least 1\nTry \"pgtaskd --help\".", 2},
	} {
		var stdout, stderr bytes.Buffer
		status := exitCode(run(t.Context(), append([]string{"next"}, c.args...), &stdout, &stderr), &stderr)
		if got := stdout.String() + strings.TrimSuffix(stderr.String(), "\n"); got != c.want || status != c.status {
			t.Errorf("%.80q: status %d, %s", c.args, status, got)
		}
	}
}
