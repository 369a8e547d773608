package work

import (
	"fmt"
	"strings"
	"testing"
)

// TestRunsKeepTheBeginningOfErrors: the statement stands in the row already, and runs is written
// again with each try.
func TestRunsKeepTheBeginningOfErrors(t *testing.T) {
	t.Parallel()
	s := play(t)
	input := "SELECT 1/0 /*" + strings.Repeat("x", 60_000) + "*/"
	id := s.add("input, retry, backoff", input, 8, "1 ms")
	s.becomes(id, "FAIL")
	if row := s.row(id, "jsonb_array_length(runs) AS n, octet_length(error) > 50000 AS whole, (SELECT max(octet_length(r ->> 'error')) FROM jsonb_array_elements(runs) AS r) AS longest, "+
		"runs -> 0 ->> 'error' LIKE 'ERROR:  division by zero%' AS shown"); row != `{"n":8,"whole":true,"longest":1000,"shown":true}` {
		t.Error(row)
	}
	s.exec("UPDATE task SET state = 'PLAN', input = 'SELECT 1' WHERE id = $1", id)
	s.becomes(id, "DONE")
	s.row(id, "1")
	if got := s.get("SELECT max(octet_length(r ->> 'error')) FROM task, jsonb_array_elements(runs) AS r WHERE id = $1", id); got != "1000" {
		t.Error(got)
	}
	// One that was interrupted keeps the error of the try before.
	cut := s.add("input, state, pid, start, error, retry", "SELECT 2", "WORK", 2147483647, "2020-01-01", "ERROR:  "+strings.Repeat("y", 60_000), 3)
	s.eventually("1000", fmt.Sprintf("SELECT octet_length(runs -> 0 ->> 'error') FROM task WHERE id = %d", cut))
}
