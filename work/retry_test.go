package work

import (
	"fmt"
	"strings"
	"testing"
)

// TestTaskSaysWhetherItIsTriedAgain: by the codes TK001 and TK002.
func TestTaskSaysWhetherItIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE FUNCTION raise(code text, detail text) RETURNS void LANGUAGE plpgsql AS $$BEGIN RAISE 'so' USING ERRCODE = code, DETAIL = detail; END$$")
	add := func(code, detail string, retry int) int64 {
		return s.add("input, retry, backoff", "SELECT raise('"+code+"', '"+detail+"')", retry, "1 hour")
	}
	never, later, none, odd := add("TK001", "", 3), add("TK002", "20 days 5 s", 3), add("TK002", "1 s", 0), add("TK002", "soon", 3)
	s.becomes(never, "FAIL")
	s.becomes(none, "FAIL")
	for id, want := range map[int64]string{later: "20 days 00:00:05", odd: "01:00:00"} {
		s.eventually("1", "SELECT attempt FROM task WHERE id = $1", id)
		if got := s.get("SELECT format('%s %s', state, plan - (runs -> 0 ->> 'stop')::timestamptz BETWEEN $2::interval * 0.9 AND $2::interval * 1.1) FROM task WHERE id = $1", id, want); got != "PLAN t" {
			t.Error(want, got, s.get("SELECT row(plan, runs) FROM task WHERE id = $1", id))
		}
	}
	if got := s.get("SELECT format('%s %s', attempt, sqlstate) FROM task WHERE id = $1", never); got != "1 TK001" {
		t.Error(got)
	}
	soon := s.add("input, retry, backoff", "SELECT CASE WHEN current_setting('pg_task.attempt')::int < 3 THEN raise('TK002', '10 ms') END", 2, "1 hour")
	s.becomes(soon, "DONE")
}

// TestRunsKeepTheBeginningOfErrors: the row already has the statement, and runs is written again
// with each try.
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
	// An interrupted run keeps the error of the try before.
	cut := s.add("input, state, pid, start, error, retry", "SELECT 2", "WORK", 2147483647, "2020-01-01", "ERROR:  "+strings.Repeat("y", 60_000), 3)
	s.eventually("1000", fmt.Sprintf("SELECT octet_length(runs -> 0 ->> 'error') FROM task WHERE id = %d", cut))
}
