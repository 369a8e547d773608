package exec

import (
	"crypto/rand"
	"encoding/binary"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// SQL can take our prepared statements away and prepare others under their names, which may answer
// as ours do. For that it needs the names. They hold a secret, which only the session itself shows,
// in its list of prepared statements: so it takes something that makes statements of texts there, a
// procedural language above all.
//
// Behind each task we ask whether our statements are still ours, by statements without a name,
// which nobody can replace. In a clean session it is enough that plpgsql is not loaded: its setting
// shows the text that it was given, and on or off once it is. In others the list is read (40 µs):
// it tells what was prepared by SQL, and how many are ours. Behind a query that others were sent
// behind, the server has to judge: once plpgsql is loaded it refuses a value that is no boolean.
//
// A task whose answer is no is rolled back, and runs once more with statements that have no name.
// Whatever was replaced after the last look, by a trigger at COMMIT, is found behind the task that
// follows, before anything of that is committed; or ahead of it, where it fails: then DISCARD ALL
// comes first, even if it looks like a limit that is met again. What no transaction holds runs with
// statements without a name at once.

type evidence uint8

const (
	noEvidence evidence = iota
	asksLoaded
	asksList
)

const (
	loaded    = "SHOW plpgsql.check_asserts"
	notLoaded = "SET LOCAL plpgsql.check_asserts TO 'x'"

	// givesShown makes sure that it can be shown. It is true.
	givesShown = `pg_catalog.set_config('plpgsql.check_asserts', ` +
		`coalesce(pg_catalog.current_setting('plpgsql.check_asserts', true), 'false'), false) IS NOT NULL`

	// The planned input comes and goes.
	list = `SELECT pg_catalog.count(CASE WHEN NOT p.from_sql AND p.name OPERATOR(pg_catalog.<>) $1 THEN 1 END), pg_catalog.count(CASE WHEN p.from_sql THEN 1 END) ` +
		`FROM pg_catalog.pg_prepared_statement() AS p`

	// capable tells whether anything but plpgsql can make statements of texts (another procedural
	// language, or xpath_table of xml2), or a function of SQL prepares some.
	capable = `(EXISTS (SELECT FROM pg_catalog.pg_language AS l WHERE l.lanname OPERATOR(pg_catalog.<>) ALL ('{internal,c,sql,plpgsql}')) ` +
		`OR EXISTS (SELECT FROM pg_catalog.pg_proc AS p WHERE p.prosrc OPERATOR(pg_catalog.=) 'xpath_table' ` +
		`OR p.prolang OPERATOR(pg_catalog.=) 14 AND p.prosrc OPERATOR(pg_catalog.~*) '(^|[^a-z0-9_$])(prepare|deallocate)([^a-z0-9_$]|$)'))`
	incapable = `SELECT WHERE 1 OPERATOR(pg_catalog./) (NOT ` + capable + `)::pg_catalog.int4 OPERATOR(pg_catalog.=) 0`
)

// renameEvery is the longest time for which a session in use keeps the names, as somebody may have
// written a function with those that a task has shown.
const renameEvery = 10 * time.Second

// names are those of our prepared statements in a session.
type names struct {
	known   map[string]string // our prepared statements: names, but for the secret, and texts
	secret  string            // part of their names
	renamed time.Time         // when it was chosen
	wary    bool              // nothing is taken for prepared
}

// rename gives our statements new names. None is known by them.
func (n *names) rename() {
	n.known, n.secret, n.renamed = map[string]string{}, rand.Text()[:8], time.Now()
}

// aged tells whether our statements are to have new names before a task.
func (s *Session) aged(t *Task) bool {
	return s.dirty && !t.Keep && time.Since(s.renamed) >= renameEvery
}

// named is the name of a statement of ours in this session.
func (n *names) named(name string) string {
	return "pgtaskd_" + n.secret + strings.TrimPrefix(name, "pgtaskd")
}

// trusted tells whether nothing has run since the last look that could do anything to our
// statements.
func (s *Session) trusted(t *Task) bool { return s.wary || t.Traits.Inert && !s.unseen }

// sendEvidence queues, behind a task's SQL, what shows whether our statements are still ours.
func (s *Session) sendEvidence(t *Task) {
	switch s.asks = noEvidence; {
	case s.trusted(t):
	case s.clean:
		s.asks = asksLoaded
		s.plain(loaded)
	default:
		s.sendList()
	}
}

func (s *Session) sendList() {
	s.asks, s.listed = asksList, len(s.known)
	s.call(&Statement{SQL: list}, []byte(s.named(inputName)))
}

// sendEvidenceAhead queues what fails where they may not be, as more tasks are with the server
// behind this one.
func (s *Session) sendEvidenceAhead(t *Task) {
	if !s.trusted(t) {
		s.plain(notLoaded)
	}
}

// faultAhead tells the error by which that fails.
func (s *Session) faultAhead(failure *pgproto3.ErrorResponse) bool {
	if failure.Code != "22023" {
		return false
	}
	s.clean = false
	return true
}

// evident reads the row that answers, and tells whether our statements may be another's.
func (s *Session) evident(asked evidence, values [][]byte) (another bool) {
	if asked == asksLoaded {
		s.clean = s.clean && len(values) == 1 && string(values[0]) != "on" && string(values[0]) != "off"
		return !s.clean
	}
	if len(values) != 2 || len(values[0]) != 8 || len(values[1]) != 8 {
		return true
	}
	s.hard = s.hard || binary.BigEndian.Uint64(values[1]) > 0
	return binary.BigEndian.Uint64(values[0]) != uint64(s.listed)
}

// look reads the list, and tells whether our statements are another's, or whether that is not
// known.
func (s *Session) look() (another bool, err error) {
	s.limited(true)
	defer s.limited(false)
	s.sendList()
	s.asks = noEvidence
	s.sync()
	n := s.queued()
	if err := s.flush(); err != nil {
		return true, err
	}
	another = true
	_, failure, err := s.answers(n, func(values [][]byte) { another = s.evident(asksList, values) }, nil)
	if err != nil || failure != nil {
		return true, err
	}
	return another, s.synced()
}

// replaced decides by what has been said: that plpgsql has been loaded is a reason to look closer.
func (s *Session) replaced(said said) (another bool, err error) {
	another = said.another || said.odd
	if said.asks == asksLoaded && said.another && !said.odd {
		another, err = s.look()
	}
	if another {
		s.distrust()
	}
	return another, err
}

// review looks whether a task has failed by what the one before it may have done to our statements.
func (s *Session) review(t *Task, result *Result) error {
	if result.Raw == nil || result.Forgot || result.Alone || !t.Atomic || s.wary || s.gone != nil ||
		result.Reason != NotCancelled {
		return nil
	}
	another, err := s.look()
	if another {
		s.distrust()
		result.Forgot = true
	}
	if err != nil {
		return s.ended(err)
	}
	return nil
}

// errReplaced is shown by a task that cannot run once more.
var errReplaced = &pgproto3.ErrorResponse{
	Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: "26000", Message: "prepared statements of pgtaskd were taken away or replaced",
	Hint: "Use other names than those that begin with pgtaskd_.",
}
