package apply_test

import (
	"strings"
	"testing"

	"pgtaskd/apply"
	"pgtaskd/server/servertest"
)

const (
	one = "- key: a\n  input: SELECT 1\n  repeat: 1 hour\n"
	two = one + "- key: b\n  input: SELECT 2\n  repeat: 1 day\n  group: nightly\n"
)

// TestApply: the rows before, the file, the shown changes, and the rows afterwards. A second run
// has nothing to do.
func TestApply(t *testing.T) {
	t.Parallel()
	const rows = "SELECT string_agg(concat_ws(' ', id, state, key, \"group\", repeat, input, owner), E'\\n' ORDER BY id) FROM task"
	cases := map[string]struct {
		before, file string
		options      apply.Options
		shows, after string
	}{
		"new jobs": {
			"", two,
			apply.Options{},
			"+ a\n    input: SELECT 1\n    repeat: 01:00:00\n+ b\n    input: SELECT 2\n    repeat: 1 day\n    group: nightly",
			"1 PLAN a group 01:00:00 SELECT 1 git\n2 PLAN b nightly 1 day SELECT 2 git",
		},
		"a dry run changes nothing": {
			"INSERT INTO task (key, input, repeat, owner) VALUES ('a', 'SELECT 0', '1 hour', 'git'), ('c', 'SELECT 3', '1 s', 'git')", two,
			apply.Options{DryRun: true, Prune: true},
			"~ a\n    input: SELECT 0 → SELECT 1\n+ b\n    input: SELECT 2\n    repeat: 1 day\n    group: nightly\n- c",
			"1 PLAN a group 01:00:00 SELECT 0 git\n2 PLAN c group 00:00:01 SELECT 3 git",
		},
		"columns that the file does not name return to their defaults": {
			`INSERT INTO task (key, input, repeat, owner, "group", max, until, data, remote) VALUES ('a', 'SELECT 1', '1 hour', 'git', 'x', 3, '2100-01-01', 'd', 'r')`, one,
			apply.Options{},
			"~ a\n    max: 3 → 0\n    data: d → NULL\n    group: x → group\n    remote: r → NULL\n    until: 2100-01-01 00:00:00+00 → NULL",
			"1 PLAN a group 01:00:00 SELECT 1 git",
		},
		"plan, state and what runs have written stay": {
			`INSERT INTO task (key, input, repeat, owner, plan, error, runs, attempt) VALUES ('a', 'SELECT 0', '1 hour', 'git', 'infinity', 'e', '[]', 1)`,
			"- {key: a, input: SELECT 1, repeat: 1 hour, plan: 2000-01-01}",
			apply.Options{},
			"~ a\n    input: SELECT 0 → SELECT 1",
			"1 PLAN a group 01:00:00 SELECT 1 git",
		},
		"plan is that of a new job": {
			"", "- {key: a, input: SELECT 1, repeat: 1 hour, plan: infinity}",
			apply.Options{},
			"+ a\n    input: SELECT 1\n    repeat: 01:00:00\n    plan: infinity",
			"1 PLAN a group 01:00:00 SELECT 1 git",
		},
		"what is paused stays paused": {
			"INSERT INTO task (key, input, repeat, owner, state) VALUES ('a', 'SELECT 0', '1 hour', 'git', 'STOP')", one,
			apply.Options{},
			"~ a (stays paused; pgtaskd act resume 1 lets it go on)\n    input: SELECT 0 → SELECT 1",
			"1 STOP a group 01:00:00 SELECT 1 git",
		},
		"a row that runs is changed beside the one that waits": {
			`INSERT INTO task (key, input, repeat, owner, state) VALUES ('a', 'SELECT 0', '1 hour', 'git', 'WORK');
			INSERT INTO task (key, input, repeat, owner) VALUES ('a', 'SELECT 1', '2 hours', 'git')`, one,
			apply.Options{},
			"~ a (it runs now: that run goes on as it began)\n    repeat: 02:00:00 → 01:00:00\n    input: SELECT 0 → SELECT 1",
			"1 WORK a group 01:00:00 SELECT 1 git\n2 PLAN a group 01:00:00 SELECT 1 git",
		},
		"what has ended is left": {
			"INSERT INTO task (key, input, state, start, stop) VALUES ('a', 'SELECT 0', 'DONE', now(), now())", one,
			apply.Options{},
			"+ a\n    input: SELECT 1\n    repeat: 01:00:00",
			"1 DONE a group 00:00:00 SELECT 0\n2 PLAN a group 01:00:00 SELECT 1 git",
		},
		"a job that was stopped while it ran is over, and begins again": {
			"INSERT INTO task (key, input, state, start, stopping, owner) VALUES ('a', 'SELECT 0', 'STOP', now(), true, 'git')", one,
			apply.Options{},
			"+ a\n    input: SELECT 1\n    repeat: 01:00:00",
			"1 STOP a group 00:00:00 SELECT 0 git\n2 PLAN a group 01:00:00 SELECT 1 git",
		},
		"a job without an owner is adopted": {
			"INSERT INTO task (key, input, repeat) VALUES ('a', 'SELECT 1', '1 hour')", one,
			apply.Options{},
			`~ a (had no owner, belongs to "git" now)`,
			"1 PLAN a group 01:00:00 SELECT 1 git",
		},
		"a job of another owner is refused, and all with it": {
			"INSERT INTO task (key, input, repeat, owner) VALUES ('b', 'SELECT 0', '1 hour', 'x')", two,
			apply.Options{},
			`jobs.yaml: line 4, column 8: the job "b" belongs to owner "x"; take it out there first, or set the column owner of its row to "git"`,
			"1 PLAN b group 01:00:00 SELECT 0 x",
		},
		"nothing is pruned unless asked for": {
			"INSERT INTO task (key, input, repeat, owner) VALUES ('c', 'SELECT 0', '1 hour', 'git')", "[]",
			apply.Options{},
			"unnamed c",
			"1 PLAN c group 01:00:00 SELECT 0 git",
		},
		"pruned is what is the owner's, has a key, and waits or repeats itself": {
			`INSERT INTO task (key, input, repeat, owner, state, stop) VALUES ('c', 'SELECT 0', '1 hour', 'git', 'PLAN', null), ('d', 'SELECT 0', '1 hour', 'git', 'STOP', null),
			('e', 'SELECT 0', '1 hour', 'git', 'WORK', null), ('e', 'SELECT 0', '1 hour', 'git', 'PLAN', null), ('f', 'SELECT 0', '1 hour', 'x', 'PLAN', null),
			('g', 'SELECT 0', '1 hour', null, 'PLAN', null), (null, 'SELECT 0', '1 hour', 'git', 'PLAN', null), ('h', 'SELECT 0', '1 hour', 'git', 'DONE', now()), ('i', 'SELECT 0', '0', 'git', 'WORK', null)`,
			"[]",
			apply.Options{Prune: true},
			"- c\n- d\n- e (it runs now: that run goes on, and is the last)",
			"3 WORK e group 00:00:00 SELECT 0 git\n5 PLAN f group 01:00:00 SELECT 0 x\n6 PLAN g group 01:00:00 SELECT 0\n7 PLAN group 01:00:00 SELECT 0 git\n" +
				"8 DONE h group 01:00:00 SELECT 0 git\n9 WORK i group 00:00:00 SELECT 0 git",
		},
		"a job that was pruned while it runs can come back": {
			"INSERT INTO task (key, input, repeat, owner, state) VALUES ('a', 'SELECT 1', '0', 'git', 'WORK')", one,
			apply.Options{},
			"~ a (it runs now: that run goes on as it began)\n    repeat: 00:00:00 → 01:00:00",
			"1 WORK a group 01:00:00 SELECT 1 git",
		},
		"a series whose until has passed does not begin again": {
			"", "- {key: a, input: SELECT 1, repeat: 1 hour, until: 2020-01-01}", apply.Options{}, "over a", "NULL",
		},
		"a series that has had its last run before until does not begin again": {
			"INSERT INTO task (key, input, cron, until, owner, state, stop) VALUES ('a', 'SELECT 1', '@yearly', '2100-01-01', 'git', 'DONE', now())",
			"- {key: a, input: SELECT 0, cron: '@yearly', until: 2100-01-01}",
			apply.Options{},
			"over a", "1 DONE a group 00:00:00 SELECT 1 git",
		},
		"a series that was stopped, or has other beats now, begins again": {
			"INSERT INTO task (key, input, cron, until, owner, state, stop) VALUES ('a', 'SELECT 1', '@yearly', '2100-01-01', 'git', 'STOP', now()), ('b', 'SELECT 1', '@yearly', '2100-01-01', 'git', 'DONE', now())",
			"- {key: a, input: SELECT 1, cron: '@yearly', until: 2100-01-01}\n- {key: b, input: SELECT 1, cron: '@daily', until: 2100-01-01}",
			apply.Options{},
			"+ a\n    input: SELECT 1\n    cron: @yearly\n    until: 2100-01-01 00:00:00+00\n+ b\n    input: SELECT 1\n    cron: @daily\n    until: 2100-01-01 00:00:00+00",
			"1 STOP a group 00:00:00 SELECT 1 git\n2 DONE b group 00:00:00 SELECT 1 git\n3 PLAN a group 00:00:00 SELECT 1 git\n4 PLAN b group 00:00:00 SELECT 1 git",
		},
		"a period becomes a cron expression, whatever the default of repeat is": {
			"INSERT INTO task (key, input, repeat, owner) VALUES ('a', 'SELECT 1', '1 day', 'git'); ALTER TABLE task ALTER repeat SET DEFAULT '1 min'", "- {key: a, input: SELECT 1, cron: '0 3 * * *'}\n- {key: b, input: SELECT 1, cron: '@daily'}",
			apply.Options{},
			"~ a\n    repeat: 1 day → 00:00:00\n    cron: NULL → 0 3 * * *\n+ b\n    input: SELECT 1\n    cron: @daily",
			"1 PLAN a group 00:00:00 SELECT 1 git\n2 PLAN b group 00:00:00 SELECT 1 git",
		},
		"a cron expression becomes a period": {
			"INSERT INTO task (key, input, cron, owner) VALUES ('a', 'SELECT 1', '0 3 * * *', 'git')", "- {key: a, input: SELECT 1, repeat: 1 day}",
			apply.Options{},
			"~ a\n    repeat: 00:00:00 → 1 day\n    cron: 0 3 * * * → NULL", "1 PLAN a group 1 day SELECT 1 git",
		},
		"a cron expression of a job that runs": {
			"INSERT INTO task (key, input, cron, owner, state) VALUES ('a', 'SELECT 1', '0 3 * * *', 'git', 'WORK')", "- {key: a, input: SELECT 1, cron: '0 4 * * *'}",
			apply.Options{},
			"~ a (it runs now: that run goes on as it began)\n    cron: 0 3 * * * → 0 4 * * *", "1 WORK a group 00:00:00 SELECT 1 git",
		},
		"a cron job that runs and is pruned": {
			"INSERT INTO task (key, input, cron, owner, state) VALUES ('a', 'SELECT 1', '0 3 * * *', 'git', 'WORK')", "[]",
			apply.Options{Prune: true},
			"- a (it runs now: that run goes on, and is the last)", "1 WORK a group 00:00:00 SELECT 1 git",
		},
		"what max_failures has paused stays paused": {
			"INSERT INTO task (key, input, repeat, owner, state, failures, max_failures) VALUES ('a', 'SELECT 0', '1 hour', 'git', 'STOP', 3, 3)",
			"- {key: a, input: SELECT 1, repeat: 1 hour, max_failures: 3}",
			apply.Options{},
			"~ a (stays paused after 3 failures in a row; pgtaskd act resume 1 lets it go on)\n    input: SELECT 0 → SELECT 1",
			"1 STOP a group 01:00:00 SELECT 1 git",
		},
		"what is paused and unchanged is shown": {
			"INSERT INTO task (key, input, repeat, owner, state) VALUES ('a', 'SELECT 1', '1 hour', 'git', 'STOP')", one,
			apply.Options{},
			"= a (stays paused; pgtaskd act resume 1 lets it go on)",
			"1 STOP a group 01:00:00 SELECT 1 git",
		},
		"columns of a repetition that are its own": {
			"INSERT INTO task (key, input, repeat, owner, failures, skipped, max_failures) VALUES ('a', 'SELECT 1', '1 hour', 'git', 2, 3, 5)", one,
			apply.Options{},
			"~ a\n    max_failures: 5 → 0", "1 PLAN a group 01:00:00 SELECT 1 git",
		},
		"a trigger fills a column that the file does not name": {
			"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.\"group\" := ''mine''; RETURN NEW; END'; CREATE TRIGGER f BEFORE INSERT ON task FOR EACH ROW EXECUTE FUNCTION f()", one,
			apply.Options{},
			"+ a\n    input: SELECT 1\n    repeat: 01:00:00", "1 PLAN a group 01:00:00 SELECT 1 git",
		},
		"an hour is not a day of hours": {
			"INSERT INTO task (key, input, repeat, owner) VALUES ('a', 'SELECT 1', '24 hours', 'git')", "- {key: a, input: SELECT 1, repeat: 1 day}",
			apply.Options{},
			"~ a\n    repeat: 24:00:00 → 1 day", "1 PLAN a group 1 day SELECT 1 git",
		},
		"another way to write the same is the same": {
			"INSERT INTO task (key, input, repeat, owner) VALUES ('a', 'SELECT 1', '90 min', 'git')", "- {key: a, input: SELECT 1, repeat: '1:30'}",
			apply.Options{},
			"", "1 PLAN a group 01:30:00 SELECT 1 git",
		},
	}
	for name, c := range servertest.SomeOf(cases) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			if c.before != "" {
				servertest.Replicate(t, s.conn, c.before)
			}
			s.equal("shows", s.run(c.file, c.options), c.shows)
			s.equal("after", s.get(rows), c.after)
			if c.options.DryRun {
				return
			}
			xmin := s.get("SELECT string_agg(xmin::text, ' ' ORDER BY id) FROM task")
			if again := s.run(c.file, c.options); strings.ContainsAny(again, "+~") || strings.HasPrefix(again, "-") {
				t.Errorf("a second run: %s", again)
			}
			s.equal("rows after a second run", s.get("SELECT string_agg(xmin::text, ' ' ORDER BY id) FROM task"), xmin)
		})
	}
}

// TestFaultsOfValuesNameTheirPlace: also faults that only the table and the server can tell. The
// table stays as it is.
func TestFaultsOfValuesNameTheirPlace(t *testing.T) {
	t.Parallel()
	job := func(more string) string {
		return "- {key: a, input: SELECT 1, repeat: 1 h}\n- key: b\n  input: SELECT 1\n  " + more + "\n"
	}
	cases := map[string]struct{ before, file, want string }{
		"an unknown column":       {"", job("repeat: 1 h\n  prioritty: 1"), `jobs.yaml: line 5, column 3: the table has no column "prioritty"; did you mean "priority"?`},
		"a column like no other":  {"", job("repeat: 1 h\n  zzz: 1"), `jobs.yaml: line 5, column 3: the table has no column "zzz"`},
		"paused":                  {"", job("repeat: 1 h\n  paused: true"), `the table has no column "paused"; UPDATE … SET state = 'STOP' pauses a job`},
		"a column of one run":     {"", job("repeat: 1 h\n  state: STOP"), "jobs.yaml: line 5, column 3: state is not for a file: it belongs to one run"},
		"another of them":         {"", job("repeat: 1 h\n  after: [1]"), "after is not for a file"},
		"failures":                {"", job("repeat: 1 h\n  failures: 1"), "failures is not for a file"},
		"overlap with a retry":    {"", job("repeat: 1 h\n  overlap: true\n  retry: 1"), "line 5, column 12: overlap does not go with a key and retry"},
		"a generated one":         {"", job("repeat: 1 h\n  wait_key: x"), "wait_key is not for a file"},
		"an id":                   {"", job("repeat: 1 h\n  id: 1"), "id is not for a file"},
		"an author":               {"", job("repeat: 1 h\n  author: x"), "author is not for a file"},
		"an owner":                {"", job("repeat: 1 h\n  owner: x"), "line 5, column 3: owner is what --owner says"},
		"a wrong type":            {"", job("repeat: 1 h\n  max: many"), `jobs.yaml: line 5, column 8: max: invalid input syntax for type integer: "many"`},
		"all wrong types":         {"", job("repeat: often\n  max: many"), "line 4, column 11: repeat: invalid input syntax for type interval: \"often\"\njobs.yaml: line 5, column 8: max: invalid"},
		"a number too large":      {"", job("repeat: 1 h\n  max: 3000000000"), "line 5, column 8: max: value \"3000000000\" is out of range for type integer"},
		"a list for a number":     {"", job("repeat: 1 h\n  max: [1]"), "line 5, column 8: max: "},
		"no repetition":           {"", job("repeat: 0"), "jobs.yaml: line 4, column 11: repeat is 0, and a job without cron and repeat would run once"},
		"a negative period":       {"", job("repeat: -1 h"), "line 4, column 11: repeat is out of range"},
		"null where none is":      {"", job("repeat: 1 h\n  max: ~"), `line 5, column 8: null value in column "max" of relation "task" violates not-null constraint`},
		"null of a row there":     {"INSERT INTO task (key, input, owner) VALUES ('b', 'x', 'git')", job("repeat: 1 h\n  max: ~"), `line 5, column 8: null value in column "max"`},
		"no json":                 {"", job("repeat: 1 h\n  settings: work_mem"), "line 5, column 13: settings is no JSON"},
		"no cron":                 {"", job("cron: '* * * *'"), "line 4, column 9: "},
		"a cron in no zone":       {"", job("cron: TZ=Nowhere/Else * * * * *"), "line 4, column 9: time zone \"Nowhere/Else\" at character 4 is not known"},
		"a cron that never comes": {"", job("cron: 0 0 30 2 *"), "line 4, column 9: "},
		"no run by its until":     {"", job("cron: '@every 1 h'\n  until: now"), "line 5, column 10: until is before the first run in time zone "},
		"a plan after until":      {"", job("repeat: 1 h\n  plan: 2100-01-02\n  until: 2100-01-01"), "line 6, column 10: until is before the first run"},
		"an empty cron":           {"", job("cron: ''"), "line 4, column 9: cron is empty"},
		"a long group":            {"", job("repeat: 1 h\n  group: " + strings.Repeat("x", 65537)), "line 5, column 10: group is too long: it may have 64 kB"},
		"a check of the user's":   {"ALTER TABLE task ADD CHECK (data <> 'x')", job("repeat: 1 h\n  data: x\n  remote: password=secret"), `line 2, column 8: new row for relation "task" violates check constraint "task_data_check"`},
		"a column that is needed": {"ALTER TABLE task ADD tenant int NOT NULL", job("repeat: 1 h"), `null value in column "tenant" of relation "task" violates not-null constraint`},
		"a trigger that takes it away": {
			"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; CREATE TRIGGER f BEFORE INSERT ON task FOR EACH ROW EXECUTE FUNCTION f()",
			job("repeat: 1 h"), "line 1, column 9: a trigger or a policy of the table keeps the row as it is",
		},
		"a trigger that knows better": {
			"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.\"group\" := ''mine''; RETURN NEW; END'; CREATE TRIGGER f BEFORE INSERT OR UPDATE ON task FOR EACH ROW EXECUTE FUNCTION f()",
			job("repeat: 1 h\n  group: x"), "line 5, column 3: the table does not take this value: a trigger makes it mine",
		},
		"a trigger that refuses": {
			"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no'' USING HINT = ''ask''; END'; CREATE TRIGGER f BEFORE INSERT ON task FOR EACH ROW EXECUTE FUNCTION f()",
			job("repeat: 1 h"), "line 1, column 9: no (ask)",
		},
		"a deferred constraint": {
			"CREATE TABLE tenant (id int PRIMARY KEY); ALTER TABLE task ADD tenant int REFERENCES tenant DEFERRABLE INITIALLY DEFERRED", job("repeat: 1 h\n  tenant: 1"), "violates foreign key constraint",
		},
		"a partitioned table": {"ALTER TABLE task RENAME TO old; CREATE TABLE task (LIKE old) PARTITION BY RANGE (id)", job("repeat: 1 h"), "is partitioned, and tasks of a partitioned table have no key"},
		"no table":            {"DROP TABLE task", job("repeat: 1 h"), `table "public"."task" does not exist: pgtaskd run creates it`},
		"a new column":        {"ALTER TABLE task DROP priority CASCADE", job("repeat: 1 h\n  priority: 2"), `lacks the column priority: pgtaskd run adds it unless create is false; let the owner run`},
		"an old table":        {"ALTER TABLE task DROP owner", job("repeat: 1 h"), `table "public"."task" lacks the column owner: pgtaskd run adds it unless create is false; let the owner run`},
	}
	for name, c := range servertest.SomeOf(cases) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			if c.before != "" {
				servertest.Replicate(t, s.conn, c.before)
			}
			got := s.run(c.file, apply.Options{})
			if !strings.Contains(got, c.want) || strings.Contains(got, "secret") {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			if name != "no table" {
				s.equal("rows", s.get("SELECT count(*) FROM task WHERE key = 'a' OR key = 'b' AND input <> 'x'"), "0")
			}
			if got := s.run(c.file, apply.Options{DryRun: true}); !strings.Contains(got, c.want) {
				t.Errorf("a dry run: %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestValuesAreTakenAsTheyAreWritten: the types of the columns count, not those of YAML.
func TestValuesAreTakenAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	cases := []struct{ yaml, want string }{
		{"data: 007", "data = '007'"},
		{"data: 1.10", "data = '1.10'"},
		{"data: yes", "data = 'yes'"},
		{"data: 2020-01-01", "data = '2020-01-01'"},
		{"data: 0x10", "data = '0x10'"},
		{"data: 1_000", "data = '1_000'"},
		{"data: null", "data IS NULL"},
		{"data: ~", "data IS NULL"},
		{"data: 'null'", "data = 'null'"},
		{"data: ''", "data = ''"},
		{"data: .inf", "data = '.inf'"},
		{"data: \"a\\tb\\u00e9\"", "data = E'a\\tb\\u00e9'"},
		{"data: |\n    a\n      b\n", "data = E'a\\n  b\\n'"},
		{"data: >-\n    a\n    b\n", "data = 'a b'"},
		{"data: {a: 1, b: [x, 'y', ~, true, 1.50]}", `data::jsonb = '{"a": 1, "b": ["x", "y", null, true, 1.50]}'`},
		{"null: 'none'", `"null" = 'none'`},
		{"'null': ''", `"null" = ''`},
		{"group: 'a''b'", `"group" = 'a''b'`},
		{"delete: false", `NOT delete`},
		{"delete: no", `NOT delete`},
		{"quote: '\"'", `quote = '"'`},
		{"delimiter: ','", `delimiter = ','`},
		{"max: -100", "max = -100"},
		{"timeout: 1.5 s", "timeout = '1.5 s'"},
		{"until: 2100-01-01 12:00+02", "until = '2100-01-01 10:00Z'"},
		{"tags: [a, 'b c', null]", "tags = ARRAY['a', 'b c', NULL]"},
		{"tags: '{a,b}'", "tags = ARRAY['a', 'b']"},
		{"meta: {work: [1, 2]}", `meta = '{"work": [1, 2]}'`},
		{"meta: '{\"a\": 1}'", `meta = '{"a": 1}'`},
		{"meta: 5", `meta = '5'`},
		{"meta: ~", "meta IS NULL"},
		{"price: 1.5", "price = 1.50"},
		{"\"Odd \\\" name\": x", `"Odd "" name" = 'x'`},
		{"data: &x hello\n  tags: [*x, *x]", "data = 'hello' AND tags = ARRAY['hello', 'hello']"},
		{"<<: {data: merged, max: 3}\n  max: 4", "data = 'merged' AND max = 4"},
		{"<<: [{data: first}, {data: second, max: 5}]", "data = 'first' AND max = 5"},
	}
	s := play(t)
	s.exec(`ALTER TABLE task ADD tags text[], ADD meta jsonb, ADD price numeric(10,2), ADD "Odd "" name" varchar(3)`)
	for _, c := range cases {
		file := "- key: a\n  input: SELECT 1\n  repeat: 1 h\n  " + c.yaml + "\n"
		shown := s.run(file, apply.Options{})
		if strings.Contains(shown, "line ") {
			t.Fatalf("%s: %s", c.yaml, shown)
		}
		s.equal(c.yaml, s.get("SELECT "+c.want+" FROM task WHERE key = 'a'"), "true")
		s.equal(c.yaml+" again", s.run(file, apply.Options{}), "")
	}
	s.equal("cut", s.run("- {key: a, input: x, repeat: 1 h, 'Odd \" name': long}", apply.Options{}), `jobs.yaml: line 1, column 49: Odd " name: value too long for type character varying(3)`)
}
