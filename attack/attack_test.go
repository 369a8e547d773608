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

// attack is an attack on served tables. In its statements $m is the attacker, $o the role that owns
// its table, $l the role that only serves, $d the database. Statements with $t run for each table,
// statements with $n for each schema.
type attack struct {
	name   string
	right  string // a superuser grants this before
	as     string // the attacker; "": $m
	grants string // a superuser grants this when the tables exist
	after  string // runs while the tables are served
	tables string // the tables that are served, as schema.table; "": all
	own    bool   // the serving role inserts the tasks; else a superuser does
	may    string // roles whose rights come with the grants
	stands bool   // a table may be refused by name, since an obstacle belongs to the attacker
	named  string // regular expression to accept in place of the attacker's name
}

// servedIn bounds the time until a task has ended, and until a table is served or refused.
const servedIn = 15 * time.Second

// play makes the attack, then does everything that people do with tables of tasks.
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

// choose keeps only the tables of the attack.
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

// print lets each role run the output of `pgtaskd schema`.
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

// reprint runs the printed statements again: a superuser's tables by a superuser, others by the
// serving role. Completing somebody else's table could run that role's code.
func (s *scene) reprint(a attack) {
	s.Helper()
	for _, t := range s.targets {
		if t.role == "$l" {
			continue // it may not create
		}
		_, statements, _ := strings.Cut(ddl(s.T, t), "\n\n") // the lines before are for psql, and comments
		if _, err := s.as(t.role).PgConn().Exec(s.Context(), statements).ReadAll(); err != nil {
			s.refuse(a, t, "the printed statements, in the end", err.Error())
		}
	}
}

var printed sync.Map // by schema and table

// ddl returns the output of `pgtaskd schema` for a table.
func ddl(t *testing.T, of *target) string {
	t.Helper()
	if text, known := printed.Load(of.name()); known {
		return text.(string)
	}
	text, _, _ := programtest.Shell(t, "", pgtaskd, "schema", "--schema", of.schema, "--table", of.table)
	printed.Store(of.name(), text)
	return text
}

// refuse records that a table was refused. That must be because of something that the attacker has
// made, and name it.
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

// names tells whether a text names the attacker, or something that the attacker has made.
func (s *scene) names(a attack, text string) bool {
	return strings.Contains(text, s.roles[firstOf(a.as, "$m")]) || a.named != "" && regexp.MustCompile(a.named).MatchString(text)
}

// check runs `pgtaskd check` for all tables. If they were served or refused before, the result must
// be the same.
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
			if !strings.HasPrefix(t.refused, "the printed") { // the printed table does not exist then
				s.refuse(a, t, "check "+when, strings.Join(said, ""))
			}
		case known && t.refused != "" && !strings.HasPrefix(t.refused, "the printed"):
			s.Errorf("check %s is content with %s, which was refused %s", when, t.name(), t.refused)
		}
	}
}

// serve waits until each table is led, or refused by name, and runs tasks in those that are led.
func (s *scene) serve(a attack, p program, when string) {
	s.Helper()
	for _, t := range s.targets {
		if t.broken {
			continue
		}
		l, said := p.says(s.logged(t), 0, servedIn, func(l line) bool { return leading(l) || s.refusal(a, l) })
		switch {
		case !said && strings.HasPrefix(t.refused, "the printed"): // the table does not exist
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

// refusal tells whether a line of the log refuses a table by name.
func (s *scene) refusal(a attack, l line) bool { return l.bad() && a.stands && s.names(a, l.String()) }

// use does with the served tables what people do. Each must run its task, or be refused by name, in
// the log after this position.
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

// tasks inserts and changes tasks in a table. It returns the id of a task that should run; "" if
// the server has refused.
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

// verdict checks what the attacker has gained.
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

type attacks []attack

func (all attacks) play(t *testing.T) {
	for _, a := range all {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			a.play(t)
		})
	}
}
