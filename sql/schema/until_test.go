package schema

import (
	"strings"
	"testing"
)

// TestASeriesNeedsARunByItsUntil: else its INSERT is refused, and an UPDATE that sets cron or until.
func TestASeriesNeedsARunByItsUntil(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	execute(t, conn, "SET TimeZone = 'Asia/Kathmandu'")
	for _, c := range []string{
		"cron, until: '@yearly', date_trunc('year', now()) + interval '1 year' - interval '1 s'",
		"cron, until: '@yearly', now() - interval '1 hour'",
		"cron, until: '@yearly', now()",
		"cron, until: '@every 2 hours', now() + interval '119 min'",
		"cron, until: '* * * * *', now() - interval '1 s'",
		"cron, until: '0 0 L * 0', date_trunc('day', now()) - interval '400 days'",
		"cron, until, state: '0 0 L 2 *', date_trunc('year', now()), 'STOP'",
		"cron, until: '0 0 29 2 *', (SELECT min(d) FROM generate_series(current_date + 1, current_date + 3000, interval '1 day') AS d WHERE to_char(d, 'MMDD') = '0229') - interval '1 s'",
		"cron, until: 'CRON_TZ=Asia/Tokyo 0 0 * * *', (date_trunc('day', now() AT TIME ZONE 'Asia/Tokyo') + interval '1 day') AT TIME ZONE 'Asia/Tokyo' - interval '1 s'",
		"cron, plan, until: '@daily', now() + interval '3 days', now() + interval '2 days'",
		"repeat, plan, until: '1 day', now() + interval '3 days', now() + interval '2 days'",
		"repeat, plan, until: '1 day', now() - interval '3 days', now() - interval '2 days'",
		"repeat, plan, until: '1 day', 'infinity', now() - interval '1 s'",
		"repeat, until: '1 day', now() - interval '1 s'",
		"repeat, until, catchup: '1 day', now() - interval '1 s', 5",
	} {
		refused(t, conn, series(c), "23514")
	}
	for _, c := range []string{
		"cron, until: '@yearly', date_trunc('year', now()) + interval '1 year'",
		"cron, until: '@yearly', 'infinity'",
		"cron, until: '@every 2 hours', now() + interval '2 hours'",
		"cron, until: '* * * * *', now() + interval '1 min'",
		"cron, until: '0 0 L * *', date_trunc('month', now()) + interval '1 month 30 days'",
		"cron, until: '0 0 31 * mon', now() + interval '7 days 1 hour'",
		"cron, until: '0 12 * * 7', now() + interval '7 days 1 hour'",
		"cron, plan, until: '@yearly', now() + interval '2 days', now() + interval '2 days'",
		"cron, plan, until: '@yearly', 'infinity', now() + interval '2 days'",
		"repeat, plan, until: '1 day', now() + interval '2 days', now() + interval '2 days'",
		"repeat, plan, until: '1 day', 'infinity', now() + interval '2 days'",
		"repeat, plan, until, catchup: '1 day', now() - interval '3 days', now() - interval '2 days', 5",
		"repeat, until: '1 day', statement_timestamp()",
		"until: now() - interval '2 days'",
		"cron, until, state: '@yearly', now() - interval '2 days', 'DONE'",
	} {
		execute(t, conn, series(c))
	}
	execute(t, conn, "TRUNCATE task; "+series("id, cron, until: 1, '@yearly', now() + interval '2 years'")+"; UPDATE task SET origin = NULL, plan = date_trunc('year', now()) + interval '1 year'")
	refused(t, conn, "UPDATE task SET until = now()", "23514")
	execute(t, conn, "UPDATE task SET cron = '* * * * *', until = now() + interval '1 hour'")
	refused(t, conn, "UPDATE task SET cron = '@every 2 hours'", "23514")
	execute(t, conn, "UPDATE task SET attempt = 1, plan = now() + interval '1 day', base = now()") // a retry
	execute(t, conn, "UPDATE task SET state = 'DONE', stop = now(); UPDATE task SET until = now()")
}

// series returns an INSERT of a task: its columns, and their values after a colon.
func series(c string) string {
	columns, values, _ := strings.Cut(c, ": ")
	return "INSERT INTO task (input, " + columns + ") VALUES ('', " + values + ")"
}
