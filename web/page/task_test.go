package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"pgtaskd/conf"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/web/login"
	"pgtaskd/web/rows"
	"pgtaskd/work/target"
)

// asker asks for pages of one table that nobody serves.
type asker struct {
	tasktest.Table
	*rows.Sessions
	target Target
}

func asking(t *testing.T) *asker {
	t.Helper()
	dsn := tasktest.Database(t)
	one, err := conf.Single(dsn)
	if err != nil {
		t.Fatal(err)
	}
	one.Stats = target.NewStats()
	s := rows.New()
	t.Cleanup(s.Close)
	return &asker{tasktest.Public(t, servertest.Connect(t, dsn)), s, Target{Target: one, Name: one.Name()}}
}

// ask returns the page as HTML and as JSON.
func (s *asker) ask(k Kind, hidden rows.Hidden, query string) (html, text string, err error) {
	s.T.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		s.T.Fatal(err)
	}
	a := &Asked{Kind: &k, Targets: []Target{s.target}, Query: values, User: login.User{Name: "ann", Role: login.Operator}, Hidden: hidden}
	c, err := k.Read(s.T.Context(), s.Sessions, a)
	if err != nil {
		return "", "", err
	}
	sheet := &Sheet{Asked: a, Content: c}
	shown, err := sheet.Main()
	if err != nil {
		s.T.Fatal(err)
	}
	encoded, err := json.Marshal(c.Rows)
	if err != nil {
		s.T.Fatal(err)
	}
	return string(shown) + strings.Join(c.Notes, "\n"), string(encoded), nil
}

// task asks for a task, which must be there.
func (s *asker) task(id int64, hidden rows.Hidden) (html, text string, fields map[string]json.RawMessage) {
	s.T.Helper()
	html, text, err := s.ask(taskPage, hidden, fmt.Sprint("id=", id))
	if err != nil {
		s.T.Fatal(err)
	}
	var all []map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &all); err != nil || len(all) != 1 {
		s.T.Fatalf("%v: %s", err, text)
	}
	return html, text, all[0]
}

// TestATaskThatIsNotThere: the answer says so, and an id that is none is refused.
func TestATaskThatIsNotThere(t *testing.T) {
	t.Parallel()
	s := asking(t)
	_, _, err := s.ask(taskPage, rows.Hidden{}, "id=9223372036854775807")
	if gone := Missing(""); !errors.As(err, &gone) || !strings.Contains(err.Error(), "no task 9223372036854775807") {
		t.Errorf("%v", err)
	}
	for _, query := range []string{"", "id=", "id=x", "id=1.5", "id=9223372036854775808", "id=1&target=other"} {
		_, _, err := s.ask(taskPage, rows.Hidden{}, query)
		if bad := Wrong(""); !errors.As(err, &bad) {
			t.Errorf("%s: %v", query, err)
		}
	}
}
