package run

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/exec"
	"pgtaskd/exec/text"
	"pgtaskd/work/pool"
)

// attemptOf returns an attempt of an input, in a transaction of ours if possible.
func attemptOf(input string, change func(*attempt)) *attempt {
	t := &Task{Row: Row{Input: &input, Rerun: true}}
	t.Examine()
	a := &attempt{task: t}
	a.decide(&Dispatcher{}, nil)
	if change != nil {
		change(a)
	}
	return a
}

func once(a *attempt)      { a.task.Row.Rerun = false }
func elsewhere(a *attempt) { a.task.Row.Remote, a.atomic = "other", false }

func TestRan(t *testing.T) {
	t.Parallel()
	plain := text.NewFailure("division by zero", "22012")
	conflict := text.NewFailure("could not serialize access", "40001")
	readOnly := text.NewFailure("cannot execute INSERT in a read-only transaction", "25006")
	outside := &pgproto3.ErrorResponse{Code: "25001", Routine: "PreventInTransactionBlock"}
	for name, c := range map[string]struct {
		change func(*attempt)
		result exec.Result
		want   action
		kind   Kind
		failed bool // the outcome has a failure that is not the result's
	}{
		"ran":               {nil, exec.Result{Open: true}, actCommit, Finished, false},
		"failed":            {nil, exec.Result{Failure: plain}, actEnd, Finished, false},
		"conflict":          {nil, exec.Result{Failure: conflict}, actEnd, Refused, true},
		"conflict there":    {elsewhere, exec.Result{Failure: conflict}, actEnd, Finished, false},
		"wrote in the way":  {nil, exec.Result{Alone: true}, actRepeat, Finished, false},
		"not in one":        {nil, exec.Result{Failure: plain, Raw: outside}, actRepeat, Finished, false},
		"not in one, there": {elsewhere, exec.Result{Failure: plain, Raw: outside}, actEnd, Finished, false},
		"read only":         {nil, exec.Result{Failure: readOnly, ReadOnly: true}, actLeave, Released, true},
		"stopped":           {nil, exec.Result{Failure: plain, Reason: exec.Stopped}, actEnd, Stopped, false},
		"stopped too late":  {nil, exec.Result{Open: true, Reason: exec.Stopped}, actLeave, Stopped, false},
		"drained":           {nil, exec.Result{Failure: plain, Reason: exec.Drained}, actEnd, Released, false},
		"drained, once":     {func(a *attempt) { once(a); a.atomic = false }, exec.Result{Failure: plain, Reason: exec.Drained}, actEnd, Finished, true},
		"drained too late":  {func(a *attempt) { once(a); a.task.Traits.Outside = true }, exec.Result{Open: true, Reason: exec.Drained}, actLeave, Finished, true},
		"timeout":           {nil, exec.Result{Open: true, Reason: exec.TimedOut}, actLeave, Finished, false},
	} {
		a, result := attemptOf("INSERT INTO a VALUES (1)", c.change), c.result
		o := Outcome{Task: a.task, Result: &result}
		if got := a.ran(&o, false); got != c.want || o.Kind != c.kind || (o.Fault != nil) != c.failed {
			t.Errorf("%s: %d, outcome %d, %v", name, got, o.Kind, o.Fault)
		}
		if c.result.Reason == exec.TimedOut && result.Failure == nil {
			t.Error(name, "has no failure")
		}
	}
}

// TestAQueryThatWroteRunsOnceMore: a remote task that ran as a query and has written runs once
// more, marked and not as a query.
func TestAQueryThatWroteRunsOnceMore(t *testing.T) {
	t.Parallel()
	a := attemptOf("SELECT leave_effect()", elsewhere)
	a.query, a.atomic = true, true
	if got := a.ran(&Outcome{Task: a.task, Result: &exec.Result{Alone: true}}, false); got != actRepeat {
		t.Fatal(got)
	}
	if a.decide(&Dispatcher{}, &pool.Session{Session: &exec.Session{}}); a.query || a.watch || a.atomic || !a.needsMark() || a.once() {
		t.Errorf("it runs as %+v", a)
	}
}

// TestRunsOutside: a task that cannot run in a transaction runs once more, marked and without one,
// but no third time.
func TestRunsOutside(t *testing.T) {
	t.Parallel()
	a := attemptOf("SELECT 1", nil)
	result := exec.Result{Failure: text.NewFailure("no", "25001"), Raw: &pgproto3.ErrorResponse{Code: "25001", Routine: "PreventInTransactionBlock"}}
	if got := a.ran(&Outcome{Task: a.task, Result: &result}, false); got != actRepeat {
		t.Fatal(got)
	}
	if a.decide(&Dispatcher{}, nil); a.atomic || !a.needsMark() || a.once() {
		t.Errorf("it runs as %+v", a)
	}
	if got := a.ran(&Outcome{Task: a.task, Result: &result}, false); got != actEnd {
		t.Error(got)
	}
}

// TestUntaken: a run that has locked its own row runs once more, and its row is prepared before its
// SQL.
func TestUntaken(t *testing.T) {
	t.Parallel()
	refused := text.NewFailure("no", "23514")
	for _, c := range []struct {
		change func(*attempt)
		answer Prepared
		want   action
		kind   Kind
		failed bool
	}{
		{nil, Untaken, actEnd, Refused, false},
		{nil, OthersLock, actEnd, Refused, false},
		{nil, OwnLock, actRepeat, Finished, false},
		{once, OwnLock, actEnd, Finished, true},
		{func(a *attempt) { a.claims = true }, OwnLock, actEnd, Finished, true},
		{nil, Unprepared, actEnd, Finished, true},
		{nil, Unreachable, actEnd, Lost, true},
	} {
		a := attemptOf("INSERT INTO a VALUES (1)", c.change)
		o := Outcome{Task: a.task}
		got := a.untaken(&o, c.answer, refused)
		if got != c.want || o.Kind != c.kind || (o.Fault != nil) != c.failed || (got == actRepeat) != (a.claims && c.change == nil) {
			t.Errorf("%d: %d, outcome %d, %v", c.answer, got, o.Kind, o.Fault)
		}
	}
}

// TestConcluded: the outcome follows from the answer to COMMIT, or from its loss.
func TestConcluded(t *testing.T) {
	t.Parallel()
	no := func(code string) *exec.Verdict { return &exec.Verdict{Failure: text.NewFailure("no", code)} }
	fatal := &exec.Lost{Fatal: &pgproto3.ErrorResponse{Code: "57P01"}}
	crashed := &exec.Lost{Fatal: &pgproto3.ErrorResponse{Code: "57P02"}}
	gone := &exec.Lost{Cause: errors.New("gone")}
	for name, c := range map[string]struct {
		change  func(*attempt)
		xact    int64
		verdict *exec.Verdict
		err     error
		kind    Kind
		fails   bool // its result shows the failure
	}{
		"committed":           {nil, 7, &exec.Verdict{Committed: true}, nil, Finished, false},
		"deferred constraint": {nil, 7, no("23503"), nil, Finished, true},
		"conflict":            {nil, 7, no("40001"), nil, Refused, false},
		"conflict, once":      {func(a *attempt) { once(a); a.atomic = false }, 7, no("40001"), nil, Finished, true},
		"cancelled":           {nil, 7, no("57014"), nil, Released, false},
		"cancelled, read":     {nil, 0, no("57014"), nil, Finished, true},
		"a query that wrote":  {func(a *attempt) { elsewhere(a); a.query = true }, 0, no("23503"), nil, Refused, false},
		"terminated":          {nil, 0, nil, fatal, Killed, false},
		"crashed":             {nil, 0, nil, crashed, Lost, false},
		"prepared":            {nil, 7, nil, fatal, Lost, false},
		"there":               {elsewhere, 0, nil, gone, Lost, false},
		"broken there":        {elsewhere, 0, nil, &exec.Lost{Cause: errors.New("odd"), Broken: true}, Finished, false},
	} {
		a := attemptOf("INSERT INTO a VALUES (1)", c.change)
		o := Outcome{Task: a.task, Xact: c.xact, Result: &exec.Result{}}
		if a.concluded(&o, c.verdict, c.err); o.Kind != c.kind || (o.Result.Failure != nil) != c.fails || c.err != nil && o.Fault == nil {
			t.Errorf("%s: outcome %d, %v, %v", name, o.Kind, o.Fault, o.Result.Failure)
		}
	}
}

// TestLost: the outcome if the session is lost in the middle of a run.
func TestLost(t *testing.T) {
	t.Parallel()
	fatal := &exec.Lost{Fatal: &pgproto3.ErrorResponse{Code: "57P01"}}
	gone := &exec.Lost{Cause: errors.New("gone")}
	for name, c := range map[string]struct {
		change func(*attempt)
		begun  bool
		reason exec.Reason
		err    error
		kind   Kind
		ended  bool
	}{
		"connection":       {nil, true, exec.NotCancelled, gone, Lost, false},
		"terminated":       {nil, true, exec.NotCancelled, fatal, Killed, false},
		"terminated there": {elsewhere, true, exec.NotCancelled, fatal, Lost, true},
		"not begun":        {nil, false, exec.NotCancelled, &exec.Lost{Cause: errors.New("gone"), Unbegun: true}, Released, false},
		"maybe begun":      {nil, false, exec.NotCancelled, fatal, Lost, false},
		"stopped":          {nil, true, exec.Stopped, gone, Stopped, false},
		"stopped before":   {func(a *attempt) { a.task.Cancel(exec.Stopped) }, false, exec.NotCancelled, gone, Stopped, false},
		"does not obey":    {nil, true, exec.TimedOut, gone, Finished, false},
		"broken there":     {elsewhere, true, exec.NotCancelled, &exec.Lost{Cause: errors.New("odd"), Broken: true}, Finished, false},
	} {
		a := attemptOf("INSERT INTO a VALUES (1)", c.change)
		o := Outcome{Task: a.task}
		if c.begun {
			o.Start, o.Result = time.Now(), &exec.Result{Reason: c.reason}
		}
		if ended := a.lost(&o, c.err); ended != c.ended || o.Kind != c.kind || o.Fault == nil {
			t.Errorf("%s: %v, outcome %d, %v", name, ended, o.Kind, o.Fault)
		}
	}
}
