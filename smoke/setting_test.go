package smoke

import "testing"

// TestSettingsReachATask: settings that were changed before a task's INSERT hold for the task, even
// if its session is older. Neither this nor the next test is parallel: they make sessions open
// again, and other tests look at sessions.
func TestSettingsReachATask(t *testing.T) {
	s := own(t, object{})
	u := s.user(t)
	for _, c := range []struct{ change, want string }{
		{"SELECT 1", "4MB"},
		{"ALTER DATABASE " + s.name + " SET work_mem TO '5MB'", "5MB"},
		{"ALTER ROLE postgres IN DATABASE " + s.name + " SET work_mem TO '6MB'", "6MB"},
		{"ALTER ROLE postgres IN DATABASE " + s.name + " SET work_mem TO '7MB'", "7MB"},
		{"ALTER ROLE postgres IN DATABASE " + s.name + " RESET work_mem", "5MB"},
		{"ALTER DATABASE " + s.name + " RESET work_mem", "4MB"},
	} {
		u.exec(c.change)
		u.shows(u.becomes(u.add("input, live", "'SHOW work_mem', '1 hour'"), "DONE"), "output", c.want)
		u.exec(c.change)
		u.shows(u.becomes(u.add("input", "'SHOW work_mem'"), "DONE"), "output", c.want)
	}
}

// TestDefaults, from weak to strong: built in, database, role, session, INSERT. The server's
// configuration comes between the first two.
func TestDefaults(t *testing.T) {
	s := own(t, object{})
	show := func(want string) {
		t.Helper()
		u := connect(t, postgres.DSN(s.name))
		if got := u.value("INSERT INTO task (input, plan) VALUES ('', 'infinity') RETURNING concat_ws(' ', max, \"group\", \"null\", active)"); got != want {
			t.Errorf("the defaults are %s, want %s", got, want)
		}
	}
	show(`0 group \N 01:00:00`)
	u := s.user(t)
	u.exec("ALTER DATABASE " + s.name + " SET pg_task.max TO '1'; ALTER DATABASE " + s.name + " SET pg_task.\"group\" TO 'it''s a \"group\"'; ALTER DATABASE " + s.name + " SET pg_task.\"null\" TO ''")
	show(`1 it's a "group"  01:00:00`)
	u.exec("ALTER ROLE postgres IN DATABASE " + s.name + " SET pg_task.max TO '2'")
	show(`2 it's a "group"  01:00:00`)

	u = s.user(t)
	u.exec("SET pg_task.max TO '3'; SET pg_task.active TO '1 day'")
	u.is("(SELECT current_setting('pg_task.max'))", "3")
	if got := u.value("INSERT INTO task (input, plan) VALUES ('', 'infinity') RETURNING max || ' ' || active"); got != "3 1 day" {
		t.Errorf("the defaults of the session are %s", got)
	}
	if got := u.value("INSERT INTO task (input, plan, max) VALUES ('', 'infinity', 4) RETURNING max"); got != "4" {
		t.Errorf("the INSERT's own max is %s", got)
	}
	u.exec("BEGIN; SET LOCAL pg_task.delete TO 'false'; SET LOCAL pg_task.timeout TO '1 s'; COMMIT")
	if got := u.value("INSERT INTO task (input, plan) VALUES ('', 'infinity') RETURNING delete || ' ' || timeout"); got != "true 00:00:00" {
		t.Errorf("the defaults after SET LOCAL are %s", got)
	}
	u.exec("SET pg_task.active TO 'forever'")
	u.refused("INSERT INTO task (input) VALUES ('')", "22007")
	u.exec("SET pg_task.active TO '-1 s'")
	u.refused("INSERT INTO task (input) VALUES ('')", "23514")
}

// TestDefaultsOfTheTarget: the configuration's defaults become the columns' defaults.
func TestDefaultsOfTheTarget(t *testing.T) {
	t.Parallel()
	u := own(t, object{"defaults": object{"active": "1 day", "max": 5, "delete": false, "group": "it's"}}).user(t)
	row := u.task(u.value("INSERT INTO task (input) VALUES ('') RETURNING id"))
	u.shows(row, "active", "1 day", "max", "5", "delete", "f", "group", "it's")
	u.becomes(row.text("id"), "DONE")
}

func TestChecks(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	for _, columns := range []string{
		"active = '-1 s'", "live = '-1 day'", "repeat = '1 day -1 hour'", "repeat = '-1 day'", "timeout = '-1 ms'", "count = -1",
		"active = '294000 years'", "plan = '-infinity'", "retry = -1", "backoff = '0'",
	} {
		u.refused("INSERT INTO task (input, plan) VALUES ('', 'infinity'); UPDATE task SET "+columns+" WHERE id = lastval()", "23514")
	}
}
