package faults

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgtaskd/server/fake"
	"pgtaskd/server/servertest"
)

// wrongs are wrong answers of remotes, by exchange. Each has brought a controller down before, or
// might.
var wrongs = map[fake.Exchange][]string{
	fake.SASL:        {"garbage", "only Z", "an error without fields", "a length of 0"},
	fake.Continue:    {"only R", "bodies of 5 bytes"},
	fake.Startup:     {"without K", "ready as X", "a thousand parameters", "a length of 2147483647"},
	fake.Question:    {"no row", "a row without columns", "one column", "nulls", "columns too many", "text", "garbage", "only G", "no characters in an error"},
	fake.Preparation: {"no row", "a row without columns", "nulls", "the last moment", "without C", "ready as X", "garbage", "no characters in an error"},
	fake.Input:       {"columns too many", "no characters", "no characters in an error", "a long error", "only H", "only W", "counts too high", "a length of 3", "1 quarters and the end", "a last word"},
	fake.Probe:       {"no row", "a row without columns", "nulls", "the first moment", "the last moment", "a length of 2147483648"},
	fake.End:         {"garbage", "another tag", "no characters in an error", "0 quarters and the end"},
}

// TestHostileRemotes: if a remote answers wrongly, its task FAILs or waits, and says why. Nothing
// else notices, not even after a restart, which finds the waiting tasks again.
func TestHostileRemotes(t *testing.T) {
	t.Parallel()
	s := prepare(t, servertest.Server(t), nil)
	tasks := 0
	for exchange, names := range wrongs {
		for _, way := range fake.Ways() {
			if !slices.Contains(names, way.Name) {
				continue
			}
			tasks++
			server, err := fake.Start(func(e fake.Exchange, right []fake.Message) fake.Answer {
				if e == exchange {
					return way.Change(right)
				}
				return fake.Right(right)
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(server.Stop)
			s.exec(`INSERT INTO task ("group", remote, input, timeout) VALUES ($1, $2, 'SELECT 1', '3 s')`, string(exchange)+": "+way.Name, server.DSN()+" sslmode=disable")
		}
	}
	if named := len(slices.Concat(slices.Collect(maps.Values(wrongs))...)); tasks != named {
		t.Fatalf("%d ways of %d are known", tasks, named)
	}
	for _, run := range []string{"first", "after a restart"} {
		t.Run(run, func(t *testing.T) {
			of := *s
			of.T, of.from = t, 0
			c := serve(t, &of)
			of.settled()
			of.becomes(servertest.Null, `SELECT string_agg("group", ', ') FROM task WHERE remote IS NOT NULL AND NOT (state IN ('DONE', 'FAIL') OR error IS NOT NULL OR interrupted > 0)`)
			of.exec(`INSERT INTO task (input) SELECT 'SELECT 1' FROM generate_series(1, 20)`)
			of.becomes("0", "SELECT count(*) FROM task WHERE remote IS NULL AND state <> 'DONE'")
			for _, line := range of.said() {
				if strings.Contains(line, "panic") || strings.Contains(line, "target failed") {
					t.Error(line)
				}
			}
			of.until(patience, "the neighbour's tasks", c.beside.some)
			c.beside.check()
			t.Log(of.get(`SELECT string_agg(concat_ws(' ', "group", state, attempt, interrupted, sqlstate, left(error, 150)), E'\n' ORDER BY "group") FROM task WHERE remote IS NOT NULL`))
			of.is("08P01", `SELECT sqlstate FROM task WHERE "group" = 'input: only H'`)
			of.is(servertest.Null, `SELECT string_agg("group", ', ') FROM task WHERE state = 'DONE' AND output <> '1' AND "group" NOT LIKE 'input%'`)
		})
	}
}
