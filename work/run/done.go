package run

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/pool"
)

// parameters are those of a statement of ours, in order; Text takes any type.
type parameters interface {
	Int8(int64)
	Int4(int32)
	Bool(bool)
	Moment(time.Time)
	Text(*string)
}

// done are the calls that write the end of a task in its own transaction, with its repetition
// unless it is quick.
func (r *runner) done(p *pending) []exec.Call {
	calls := make([]exec.Call, 0, 9) // no more, since they stay where they are
	r.ending(p, func(name, text string) parameters {
		if name == repeatName {
			p.tail.Follows = len(calls)
		}
		calls = append(calls, exec.Call{Statement: &exec.Statement{Name: name, SQL: text}})
		return &calls[len(calls)-1]
	})
	return calls
}

// repeatName is the name of the statement that writes what follows on a task.
const repeatName = "pgtaskd_repeat"

// longRun is what a run must last until its end looks whether the table is still the same.
const longRun = time.Second

// ending says by which statements the end of a task is written.
func (r *runner) ending(p *pending, call func(name, text string) parameters) {
	q := r.Queries.Load()
	if p.result.Stop.Sub(p.start) >= longRun || r.session.Token != nil { // the table may have been dropped meanwhile, and replaced by somebody
		call("", q.Hold()) // or be while this waits for a lock
		call("", q.Text("same"))
	}
	if p.result.Stop.Sub(p.start) >= longRun { // or given to somebody else
		call("", q.Text("masters"))
	}
	if p.task.image != nil && !p.quick {
		unchanged := call("", q.Text("unchanged"))
		unchanged.Int8(p.task.Row.ID)
		unchanged.Text(p.task.image)
	}
	if !p.quick {
		call("", "SET LOCAL TimeZone TO "+exec.Literal(*r.Zone.Load()))
		call("", "SET LOCAL jit TO off")                            // what follows is planned without enable_seqscan, which looks expensive: JIT would take seconds
		call("", "SET LOCAL plan_cache_mode TO force_generic_plan") // to plan a repetition takes longer than to make it
	}
	done := call("pgtaskd_done", q.Text("done"))
	done.Int8(p.task.Row.ID)
	done.Int4(int32(p.task.Row.Version))
	done.Moment(p.start)
	done.Moment(p.result.Stop)
	done.Text(Stored(p.result.Output, r.Server.Load().Encoding))
	done.Text(Stored(p.result.Notice, r.Server.Load().Encoding))
	done.Bool(p.task.Once())
	done.Bool(p.quick)
	done.Int4(int32(r.session.PID))
	done.Bool(p.task.image != nil)
	done.Bool(r.session.Scans && p.quick)
	if !p.quick {
		ids := fmt.Sprintf("{%d}", p.task.Row.ID)
		p.leap = r.Leap.Most()
		repeat := call(repeatName, q.Text("repeat"))
		repeat.Text(&ids)
		repeat.Int8(Skipped(p.leap))
		repeat.Text(p.task.waits(p.leap))
		call("", "SET LOCAL plan_cache_mode TO DEFAULT") // what is deferred to COMMIT may be the user's
		if r.session.Scans {
			call("", "SET LOCAL enable_seqscan TO on")
		}
	}
}

// doneUnder are the calls that do the same in a session of another role than the target's, which may
// not write to the table: a function runs the statements that are within, for the session's token.
// The next one takes its place.
func (r *runner) doneUnder(p *pending) (calls []exec.Call, within []string) {
	var w written
	r.ending(p, func(name, text string) parameters {
		if name == repeatName {
			p.tail.Follows = len(w.texts)
		}
		return w.statement(text)
	})
	server, token := r.Server.Load(), pool.Bytea(r.session.Token)
	r.session.Token = pool.NewToken()
	next, statements, values := pool.Bytea(r.session.Token.Hash()), list(w.texts), list(w.values)
	first, end := exec.Call{Statement: &exec.Statement{SQL: server.First}}, exec.Call{Statement: &exec.Statement{SQL: server.Ends}}
	for _, argument := range []*string{&token, &next, &server.Path, &statements, &values} {
		end.Text(argument)
	}
	for _, text := range w.texts {
		within = append(within, *text)
	}
	return []exec.Call{first, end}, within
}

// written are statements whose parameters are the elements of one list of texts, which is theirs.
type written struct{ texts, values []*string }

func (w *written) statement(text string) parameters {
	text = listed(text, len(w.values))
	w.texts = append(w.texts, &text)
	return w
}

// listed is a statement of ours with the elements of $1 in the place of its parameters, from the one
// behind so many on. What looks like a parameter in a name, a literal or a comment is none.
func listed(text string, before int) string {
	var b strings.Builder
	for {
		i := strings.IndexAny(text, `$'"-`)
		if i < 0 {
			return b.String() + text
		}
		b.WriteString(text[:i])
		end := i + 1
		switch c := text[i]; {
		case c == '$':
			for end < len(text) && '0' <= text[end] && text[end] <= '9' {
				end++
			}
			n, _ := strconv.Atoi(text[i+1 : end])
			fmt.Fprintf(&b, "($1)[%d]", before+n)
			i = end
		case c != '-':
			end += strings.IndexByte(text[end:], c) + 1 // a doubled one ends one and begins the next
		case strings.HasPrefix(text[i:], "--"):
			end += strings.IndexByte(text[end:], '\n') + 1
		}
		b.WriteString(text[i:end])
		text = text[end:]
	}
}

// Text adds a value, as the others do in the form in which every session reads it.
func (w *written) Text(value *string) { w.values = append(w.values, value) }

func (w *written) add(value string)   { w.values = append(w.values, &value) }
func (w *written) Int8(n int64)       { w.add(strconv.FormatInt(n, 10)) }
func (w *written) Int4(n int32)       { w.add(strconv.FormatInt(int64(n), 10)) }
func (w *written) Bool(is bool)       { w.add(strconv.FormatBool(is)) }
func (w *written) Moment(t time.Time) { w.add(timestamp(t)) }

var element = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// list writes an array of texts.
func list(texts []*string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, text := range texts {
		if i > 0 {
			b.WriteByte(',')
		}
		if text == nil {
			b.WriteString("NULL")
			continue
		}
		b.WriteByte('"')
		_, _ = element.WriteString(&b, *text) // a Builder takes all
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return b.String()
}
