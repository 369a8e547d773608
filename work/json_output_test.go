package work

import (
	"fmt"
	"testing"
)

// TestOutputAsJSON: in any way to run a task, each result is a line of JSON, with exact values.
func TestOutputAsJSON(t *testing.T) { anywhere(t, testOutputAsJSON) }

func testOutputAsJSON(t *testing.T, lead func(*testing.T, ...func(*Target)) *led) {
	s := lead(t)
	s.exec("CREATE TABLE item (id int, price numeric); CREATE DOMAIN money_of_ours AS numeric; SET pg_task.format = 'json'")
	for _, c := range []struct{ input, output string }{
		{"SELECT 1", `[{"?column?": 1}]`},
		{
			"INSERT INTO item SELECT n, n + 0.50 FROM generate_series(1, 2) AS n; SELECT * FROM item; SELECT FROM item WHERE false",
			`{"command": "INSERT 0 2"}` + "\n" + `[{"id": 1, "price": 1.50}, {"id": 2, "price": 2.50}]` + "\n[]",
		},
		{"UPDATE item SET price = NULL WHERE id = 2 RETURNING id, price", `[{"id": 2, "price": null}]`},
		{
			"SELECT 9223372036854775807 AS a, 0.1::float8 AS b, 'NaN'::numeric AS c, '-Infinity'::float4 AS d, 1.50::money_of_ours AS e, 7::oid AS f, 1e300::float8 AS g",
			`[{"a": 9223372036854775807, "b": 0.1, "c": "NaN", "d": "-Infinity", "e": 1.50, "f": "7", "g": 1e+300}]`,
		},
		{
			"SELECT true AS a, false AS b, E'{\"x\":\\n 1}'::json AS c, '{\"x\":1}'::jsonb AS d, NULL::json AS e, 'null'::json AS f, '\"t\"'::json AS g",
			`[{"a": true, "b": false, "c": {"x":  1}, "d": {"x": 1}, "e": null, "f": null, "g": "t"}]`,
		},
		{
			"SELECT '{1,2}'::int[] AS a, ROW(1, 'x') AS b, '\\x00ff'::bytea AS c, date '2026-01-02' AS d, E'a\"\\n\\u0001' AS e, pg_sleep(0) AS f",
			`[{"a": "{1,2}", "b": "(1,x)", "c": "\\x00ff", "d": "2026-01-02", "e": "a\"\n\u0001", "f": ""}]`,
		},
		{"SELECT 1 AS a, 2 AS a, 3 AS \"\"\"\\\"", `[{"a": 1, "a": 2, "\"\\": 3}]`},
		{"COPY (VALUES (1, 'a'), (2, NULL)) TO STDOUT; SELECT 1 AS a", `{"copy": "1\ta\n2\t\\N\n"}` + "\n" + `[{"a": 1}]`},
		{"SET client_encoding = 'LATIN1'; SELECT 'ä' AS a", `{"command": "SET"}` + "\n" + `[{"a": "?"}]`},
		{"VACUUM item", `{"command": "VACUUM"}`},
		{"DO $$ BEGIN RAISE NOTICE 'said'; END $$", `{"command": "DO"}`},
		{"SELECT n / (3 - n) AS a FROM generate_series(1, 3) AS n", `[{"a": 0}, {"a": 2}]`},
	} {
		id := s.add(`input, quote, delimiter, "null", header, "group"`, c.input, "'", ",", "none", false, c.output)
		s.becomes(id, "DONE", "FAIL")
		if output := s.get("SELECT output FROM task WHERE id = $1", id); output != c.output {
			t.Errorf("%s: got\n%s, want\n%s", c.input, output, c.output)
		}
	}
	nothing := s.add("input", "; -- nothing")
	s.eventually("0", "SELECT count(*) FROM task WHERE id = $1", nothing)
	long := s.add("input", "SELECT repeat(E'\"\\n', 100000) AS a, json_build_object('x', repeat('ä', 100000)) AS b, 'x' AS c; COPY (SELECT repeat('x', 100000)) TO STDOUT")
	s.becomes(long, "DONE")
	const values = `SELECT concat_ws(' ', length(l.r -> 0 ->> 'a'), length(l.r -> 0 -> 'b' ->> 'x'), l.r -> 0 ->> 'c', length(l.r ->> 'copy'))
		FROM task, LATERAL (SELECT r::json FROM regexp_split_to_table(output, E'\n') AS r) AS l WHERE id = $1 ORDER BY l.r ->> 'copy' IS NULL DESC LIMIT 1`
	if got := s.get(values, long); got != "200000 100000 x" {
		t.Error("a long row has", got)
	}
	// Tasks of one lane in both formats are sent in one pipeline.
	s.exec(`INSERT INTO task (input, format, "group") SELECT 'SELECT ' || n || ' AS n', CASE n % 2 WHEN 0 THEN 'text' ELSE 'json' END, 'mixed' FROM generate_series(1, 200) AS n`)
	s.eventually("0", `SELECT count(*) FROM task WHERE "group" = 'mixed' AND state = 'PLAN'`)
	if wrong := s.get(`SELECT count(*) FROM task WHERE "group" = 'mixed' AND output <> CASE format WHEN 'text' THEN substr(input, 8, length(input) - 12) ELSE format('[{"n": %s}]', substr(input, 8, length(input) - 12)) END`); wrong != "0" {
		t.Error(wrong, "outputs in the wrong format")
	}
}

// TestJSONThatIsCut keeps whole rows, and its last line says that there were more.
func TestJSONThatIsCut(t *testing.T) {
	t.Parallel()
	s := play(t, func(t *Target) { t.OutputLimit = 1000 })
	id := s.add("input, format", "SELECT n AS a FROM generate_series(1, 1000) AS n; SELECT 1", "json")
	s.becomes(id, "DONE")
	lines := s.get(`SELECT concat(count(*), ' ', max(json_array_length(r::json)) FILTER (WHERE r ~ '^\['), ' ', max(octet_length(r)) FILTER (WHERE r ~ '^\[') <= 1000, ' ', min(r) FILTER (WHERE r ~ '^{'))
		FROM task, regexp_split_to_table(output, E'\n') AS r WHERE id = $1`, id)
	if want := fmt.Sprintf(`2 %d t {"cut": "the output is longer than output_limit = 1000"}`, 91); lines != want {
		t.Errorf("got %s, want %s", lines, want)
	}
}
