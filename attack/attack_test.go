//go:build slow

package attack

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"pgtaskd/server/programtest"
	"pgtaskd/server/servertest"
)

// attack is what somebody does to tables that are served. In its statements $m is the attacker, $o
// the role that owns its table, $l the one that only serves, $d the database; what names $t is run
// for each table, what names $n for each schema.
type attack struct {
	name   string
	right  string // what a superuser gives beforehand
	as     string // who attacks; "": $m
	grants string // what a superuser gives when the tables are there
	after  string // while they are served
	tables string // those that are served, schema.table; "": all
	own    bool   // tasks are inserted by the role that serves the table; else by a superuser
	may    string // roles whose rights come with what was given
	stands bool   // a table may be refused by name, since what stands in its way belongs to the attacker
	named  string // a regular expression that will do, where the attacker's name is not said
}

// servedIn is how soon a task must have ended, and a table be served or refused.
const servedIn = 15 * time.Second

// play makes the attack, and does all that is done with the tables of tasks.
func (a attack) play(t *testing.T) {
	t.Helper()
	s := newScene(t)
	s.choose(a)
	s.exec(s.safe, firstOf(a.right, "SELECT"))
	attacker := s.mallory
	if a.as != "" {
		attacker = s.as(a.as)
	}
	s.print(a)
	s.configure(nil)
	s.check(a, "before the first start", false)
	p := run(t, "--config", s.config)
	s.serve(a, p, "at the first start")
	s.exec(s.safe, firstOf(a.grants, "SELECT"))
	from := len(p.Log.String())
	if a.after != "" {
		switch err := s.try(attacker, a.after); {
		case denied(err):
			t.Log("the attack is not possible: ", err)
		case err != nil:
			t.Fatalf("the attack: %v", err)
		}
		s.use(a, p, "when attacked", from)
	}
	from = len(p.Log.String())
	s.exec(s.safe, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pgtaskd %'")
	s.use(a, p, "when the control sessions were ended", from)
	p.stop(t)
	p = run(t, "--config", s.config)
	s.serve(a, p, "after a restart")
	p.stop(t)
	s.check(a, "in the end", true)
	s.exec(attacker, "ROLLBACK") // a person would wait for it
	s.reprint(a)
	s.verdict(a)
}

func firstOf(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// choose leaves the tables that the attack is about.
func (s *scene) choose(a attack) {
	if a.tables == "" {
		return
	}
	var chosen []*target
	for _, t := range s.targets {
		if strings.Contains(" "+a.tables+" ", " "+t.schema+"."+t.table+" ") {
			chosen = append(chosen, t)
		}
	}
	s.targets = chosen
}

// print has each role run what `pgtaskd schema` prints.
func (s *scene) print(a attack) {
	s.Helper()
	for _, t := range s.targets {
		if t.printed == "" {
			continue
		}
		if _, faults, _ := programtest.Shell(s.T, ddl(s.T, t), postgres.Bindir+"/psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", s.dsn(t.printed)); strings.Contains(faults, "ERROR") {
			s.refuse(a, t, "the printed statements", faults)
		}
	}
}

// reprint has the printed statements run again, by a superuser for tables of his, else by the role
// that serves the table: to complete somebody else's could run what that one has made.
func (s *scene) reprint(a attack) {
	s.Helper()
	for _, t := range s.targets {
		if t.role == "$l" {
			continue // it may not create
		}
		_, statements, _ := strings.Cut(ddl(s.T, t), "\n") // the first line is psql's
		if _, err := s.as(t.role).PgConn().Exec(s.Context(), statements).ReadAll(); err != nil {
			s.refuse(a, t, "the printed statements, in the end", err.Error())
		}
	}
}

var printed sync.Map // by schema and table

// ddl is what `pgtaskd schema` prints for a table.
func ddl(t *testing.T, of *target) string {
	t.Helper()
	if text, known := printed.Load(of.name()); known {
		return text.(string)
	}
	text, _, _ := programtest.Shell(t, "", pgtaskd, "schema", "--schema", of.schema, "--table", of.table)
	printed.Store(of.name(), text)
	return text
}

// refuse notes that a table is refused, which must be for what the attacker has put in its way, and
// by name.
func (s *scene) refuse(a attack, t *target, when, why string) {
	s.Helper()
	switch {
	case !a.stands:
		s.Errorf("%s, %s is refused: %.600s", when, t.name(), why)
	case !s.names(a, why):
		s.Errorf("%s, %s is refused, and not by name: %.600s", when, t.name(), why)
	}
	if t.refused == "" {
		t.refused = when + ": " + why
	}
}

// names tells whether a text names the attacker, or what they have made.
func (s *scene) names(a attack, text string) bool {
	return strings.Contains(text, s.roles[firstOf(a.as, "$m")]) || a.named != "" && regexp.MustCompile(a.named).MatchString(text)
}

// check has `pgtaskd check` look at all tables. Once they have been served or refused it must say
// the same.
func (s *scene) check(a attack, when string, known bool) {
	s.Helper()
	_, faults, _ := programtest.Shell(s.T, "", pgtaskd, "check", "--config", s.config)
	for i, t := range s.targets {
		prefix := fmt.Sprintf("targets[%d] ", i)
		var said []string
		if t.broken {
			continue
		}
		for line := range strings.Lines(faults) {
			if strings.HasPrefix(line, prefix) {
				said = append(said, line)
			}
		}
		switch {
		case len(said) > 0:
			if known && t.refused == "" {
				s.Errorf("check %s refuses %s, which is served: %s", when, t.name(), said)
			}
			if !strings.HasPrefix(t.refused, "the printed") { // which has not been made then
				s.refuse(a, t, "check "+when, strings.Join(said, ""))
			}
		case known && t.refused != "" && !strings.HasPrefix(t.refused, "the printed"):
			s.Errorf("check %s is content with %s, which was refused %s", when, t.name(), t.refused)
		}
	}
}

// serve waits until each table is led, or refused by name, and has tasks run in those that are led.
func (s *scene) serve(a attack, p program, when string) {
	s.Helper()
	for _, t := range s.targets {
		if t.broken {
			continue
		}
		l, said := p.says(s.logged(t), 0, servedIn, func(l line) bool { return leading(l) || s.refusal(a, l) })
		switch {
		case !said && strings.HasPrefix(t.refused, "the printed"): // it is not there
		case !said:
			s.Errorf("%s, %s is neither served nor refused by name: %v", when, t.name(), p.lines(s.logged(t), 0))
			t.broken = true
		case !leading(l):
			s.refuse(a, t, when, l.String())
		default:
			t.refused = ""
		}
	}
	s.use(a, p, when, 0)
}

// refusal tells a line of the log that refuses a table by name.
func (s *scene) refusal(a attack, l line) bool { return l.bad() && a.stands && s.names(a, l.String()) }

// use does with the tables that are served what people do. Each must run its task, or be refused by
// name, from a place in the log on.
func (s *scene) use(a attack, p program, when string, from int) {
	s.Helper()
	ids := map[*target]string{}
	for _, t := range s.targets {
		if t.refused == "" && !t.broken {
			ids[t] = s.tasks(t, a.own, when)
		}
	}
	for t, id := range ids {
		if id == "" {
			continue
		}
		look := fmt.Sprintf("SELECT state FROM %s WHERE id = %s", t.name(), id)
		refused := ""
		served := servertest.Comes(servedIn, func() bool {
			for _, l := range p.lines(s.logged(t), from) {
				if from > 0 && s.refusal(a, l) {
					refused = l.String()
				}
			}
			return refused != "" || s.get(s.safe, look) == "DONE"
		})
		switch {
		case refused != "":
			s.refuse(a, t, when, refused)
		case !served:
			t.broken = true
			s.Errorf("%s, a task of %s is %s and not DONE: %s", when, t.name(), s.get(s.safe, look), s.get(s.safe, strings.Replace(look, "state", "error", 1)))
		}
	}
}

// tasks inserts and changes tasks in a table. It returns the id of one that is to be run; "": the
// server has refused.
func (s *scene) tasks(t *target, own bool, when string) (id string) {
	s.Helper()
	user := s.user
	if own {
		user = s.as(t.role)
	}
	for _, sql := range []string{
		`INSERT INTO %s ("group", plan, input) VALUES ('later', 'infinity', 'SELECT 1')`,
		`UPDATE %s SET state = 'STOP' WHERE "group" = 'later'`,
		`UPDATE %s SET state = 'PLAN' WHERE "group" = 'later'`,
		`DELETE FROM %s WHERE "group" = 'later'`,
		`INSERT INTO %s ("group", repeat, input) VALUES ('daily', '1 day', 'SELECT 1')`,
		`UPDATE %s SET state = 'STOP' WHERE "group" = 'daily'`,
	} {
		if err := s.try(user, fmt.Sprintf(sql, t.name())); err != nil {
			s.Errorf("%s, in %s: %s: %v", when, t.name(), sql, err)
			t.broken = true
			return ""
		}
	}
	return s.get(user, fmt.Sprintf(`INSERT INTO %s ("group", input) VALUES ('now', 'SELECT 1') RETURNING id`, t.name()))
}

var caught = regexp.MustCompile(`CAUGHT\t(\S+)\t(\S+)\t(\S+)\t(.*)`)

// verdict looks what the attacker has gained.
func (s *scene) verdict(a attack) {
	s.Helper()
	innocent := map[string]bool{s.roles["$m"]: true, s.roles[firstOf(a.as, "$m")]: true}
	for role := range strings.FieldsSeq(a.may) {
		innocent[s.roles[role]] = true
	}
	seen := map[string]int{}
	for _, match := range caught.FindAllStringSubmatch(serverLog(s.T)[s.from:], -1) {
		if database, role := match[1], match[2]; database == s.database && !innocent[role] {
			seen[role+" has run the attacker's "+match[4]]++
		}
	}
	shown := 0
	for what, n := range seen {
		if shown++; shown <= 8 {
			s.Errorf("%s (%d times)", what, n)
		}
	}
	for _, role := range []string{"$m", "$o", "$l"} {
		if s.get(s.safe, "SELECT rolsuper FROM pg_roles WHERE rolname = '"+s.roles[role]+"'") == "t" {
			s.Errorf("%s has become superuser", s.roles[role])
		}
	}
}

// attacks are of one kind.
type attacks []attack

func (all attacks) play(t *testing.T) {
	for _, a := range all {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			a.play(t)
		})
	}
}
