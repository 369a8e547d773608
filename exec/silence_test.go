package exec

import (
	"testing"
	"time"
)

// TestSilenceAfterPipeline: after a pipeline the server is ready, so its time limits for an idle
// session apply.
func TestSilenceAfterPipeline(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE TABLE here (a int8)")
	b.session.question.silence = "100ms"
	query := func(input string) *Task {
		task := spec(input)
		task.Query, task.Until = true, time.Now().Add(time.Hour)
		return task
	}
	tasks := []*Task{query("SELECT 1"), query("SELECT 2"), query("SELECT count(*) FROM here")}
	if _, _, err := b.session.Begin(nil, tasks[0], tasks[1]); err != nil {
		t.Fatal(err)
	}
	b.session.Extend(tasks[2])
	for i, task := range tasks {
		if result, err := b.session.Await(task); err != nil || !result.Open {
			t.Fatal(result, err)
		}
		if i == 2 {
			break
		}
		if _, _, begun, err := b.session.Next(); err != nil || !begun {
			t.Fatal(begun, err)
		}
	}
	b.exec("SET lock_timeout TO '10s'")
	b.exec("ALTER TABLE here ADD b int8") // succeeds when the session has ended and released its lock
}

// TestSilenceAfterQuery: a limit ends the transaction of a Query if we send nothing more. The limit
// does not apply to the next task.
func TestSilenceAfterQuery(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	query := func(input string) *Task {
		task := spec(input)
		task.Query = true
		return task
	}
	const limit = "SHOW idle_in_transaction_session_timeout"
	result, _ := b.run(query(limit), nil)
	for _, task := range []*Task{query(limit), spec(limit)} {
		if output(result) != "0" || !result.Open {
			t.Error(output(result), result.Failure)
		}
		result, _ = b.run(task, &Tail{})
	}
	if output(result) != "0" {
		t.Error("of a task: ", output(result))
	}
	b.end(result)
	b.run(query("SET idle_in_transaction_session_timeout TO '1h'; "+limit), nil)
	if b.session.question.silence = "100ms"; b.end(&Result{Open: true}) == nil {
		t.Error("the session's own limit does not hold")
	}
	for _, kind := range []func(string) *Task{query, spec} {
		b := newBench(t)
		b.exec("CREATE TABLE here (a int8)")
		b.session.question.local, b.session.question.silence = false, "100ms" // as on a remote
		b.run(kind("SELECT count(*) FROM here"), nil)
		b.exec("SET lock_timeout TO '5s'; ALTER TABLE here ADD b int8")
		if _, err := b.session.End(&Tail{}); err == nil {
			t.Error("the session has not ended")
		}
	}
}
