package act

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
)

var public = sql.Table{Schema: "public", Name: "task"}

// serving makes a role that serves the table, without the right to make tables.
func (s *stage) serving() string {
	role := "page_" + s.targets[0].Connect["dbname"]
	s.Exec("CREATE ROLE " + role + " LOGIN")
	s.T.Cleanup(func() {
		for _, statement := range []string{"DROP OWNED BY ", "DROP ROLE "} {
			if _, err := s.Conn.Exec(context.WithoutCancel(s.T.Context()), statement+role); err != nil {
				s.T.Error(err)
			}
		}
	})
	s.Exec("REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO " + role)
	s.Exec("GRANT SELECT, INSERT, UPDATE, DELETE ON task TO " + role + "; GRANT USAGE ON SEQUENCE task_id_seq TO " + role)
	s.targets[0].Connect["user"] = role
	return role
}

// TestWithoutTheTableOfActs the page acts on one task; on many when the owner has made the table.
func TestWithoutTheTableOfActs(t *testing.T) {
	t.Parallel()
	s := staged(t)
	s.Close()
	role := s.serving()
	s.Exec("DROP TABLE task_act")
	s.Acts = s.acts()
	s.Exec(`INSERT INTO task (id, input, plan) SELECT i, 'SELECT 1', '2100-01-01' FROM generate_series(1, 10) AS i`)
	if got := s.post(s.Act, "do=pause&id=1"); got.status != 303 {
		t.Fatal(got)
	}
	got := s.post(s.Act, `{"do": "pause", "state": "PLAN"}`)
	if got.status != 409 || !strings.Contains(got.result.Text, "pgtaskd schema") {
		t.Fatal(got)
	}
	if got := s.post(s.Act, "do=pause&state=PLAN"); got.status != 409 || !strings.Contains(got.text, "pgtaskd schema") {
		t.Error(got)
	}
	s.Exec(sql.Fill(sql.File("schema/beside/act"), func(word string) (string, bool) { return "task_act", word == ":its_act" }) +
		"GRANT SELECT, INSERT, UPDATE ON task_act TO " + role)
	s.sessions.Close() // sessions look at a table once a minute
	s.Acts = s.acts()
	if row := s.all("do=pause&state=PLAN"); row.Text("done") != "9" {
		t.Error(row)
	}
	s.Exec("REVOKE DELETE ON task FROM " + role)
	if row := s.all("do=delete&state=STOP"); row.Text("done") != "0" || row.Text("failed") != "1" || !strings.Contains(row.Text("error"), "permission denied") {
		t.Error(row)
	}
}

// TestTheTableOfActsIsTheServingRoles: if others may write it, the page does not act.
func TestTheTableOfActsIsTheServingRoles(t *testing.T) {
	t.Parallel()
	s := staged(t)
	s.Close()
	role := s.serving()
	s.targets[0].Connect["user"] = "postgres"
	s.Exec("REVOKE ALL ON task FROM " + role)
	s.Acts = s.acts()
	s.Exec(`INSERT INTO task (id, input, plan) VALUES (1, 'SELECT 1', '2100-01-01')`)
	if got := s.post(s.Act, "do=pause&id=1"); got.status != 303 {
		t.Fatal(got)
	}
	s.Exec("GRANT INSERT ON task_act TO " + role)
	s.sessions.Close()
	s.Acts = s.acts()
	if got := s.post(s.Act, "do=resume&id=1"); got.status != 503 || !strings.Contains(got.text, "REVOKE INSERT ON") {
		t.Error(got)
	}
}

// TestRunKeepsTheRole: a copy has the role of its task, if the page can become that; else there is
// none.
func TestRunKeepsTheRole(t *testing.T) {
	t.Parallel()
	s := staged(t)
	s.Close()
	role := s.serving()
	if _, err := schema.Install(t.Context(), s.Conn, public, schema.Options{Inserter: true, Serving: role}); err != nil {
		t.Fatal(err)
	}
	s.targets[0].Inserter = true
	s.Acts = s.acts()
	s.Exec(`INSERT INTO task (id, input, plan) VALUES (101, 'SELECT 1', '2100-01-01')`)
	servertest.Exec(t, servertest.Connect(t, s.Conn.Config().ConnString()+" user="+role), `INSERT INTO task (id, input, plan) VALUES (102, 'SELECT 1', '2100-01-01')`)
	if got := s.post(s.Act, `{"do": "run", "id": 101, "data": "x"}`); got.status != 409 || !strings.Contains(got.result.Text, `belongs to role "postgres"`) {
		t.Error(got)
	}
	if got := s.post(s.Act, `{"do": "run", "id": 102, "data": "x"}`); got.status != 200 {
		t.Error(got)
	}
	if got := s.post(s.Act, `{"do": "run", "state": "PLAN", "key": "none"}`); got.status != 409 {
		t.Error(got)
	}
	if got := s.Get("SELECT string_agg(concat_ws(' ', role, data), ', ' ORDER BY id) FROM task WHERE data IS NOT NULL"); got != fmt.Sprint(role, " x") {
		t.Error(got)
	}
}
