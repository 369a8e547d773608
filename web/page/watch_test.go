package page

import (
	"strings"
	"testing"

	"pgtaskd/web/login"
	"pgtaskd/web/rows"
)

// TestWhatRunsAndFailsIsText, whatever it is called; and a reader has no button.
func TestWhatRunsAndFailsIsText(t *testing.T) {
	t.Parallel()
	for _, h := range hostile {
		pid := int32(7)
		for kind, content := range map[*Kind]*Content{
			&runningPage: {Rows: []rows.Running{{ID: 1<<53 + 1, State: "WORK", Group: h, Key: &h, PID: &pid, WaitType: &h, WaitEvent: &h, Query: &h, Blockers: []rows.Blocker{{PID: 8, Role: &h, Application: &h, State: &h, Query: &h}, {}}}}},
			&errorsPage:  {Rows: []rows.Failure{{SQLState: &h, Error: h, Count: 2, Failed: 1, Gone: 1, Example: 1<<53 + 1}}},
			&groupsPage:  {Rows: []rows.Group{{Group: h, Note: &h, Per: &h, ChangedBy: &h, PausedBy: &h}}},
			&actsPage:    {Rows: []rows.Done{{ID: 1, By: h, Do: h, Data: &h, Error: &h, Filter: map[string]any{h: h}}}},
		} {
			for _, role := range []login.Role{login.Reader, login.Operator} {
				a := &Asked{Kind: kind, Prefix: "/jobs", User: login.User{Name: "u", Role: role}, Targets: []Target{{Name: "db/s/t"}}}
				main, err := (&Sheet{Asked: a, Content: content}).Main()
				if err != nil {
					t.Fatal(err)
				}
				page := string(main)
				if strings.Contains(page, "<script") || strings.Contains(page, "<img") || strings.Contains(page, `f="javascript`) || strings.Contains(page, "' on") || strings.Contains(page, "\x00") {
					t.Errorf("%s of %.30q: %.2000s", kind.Path, h, page)
				}
				if acts := strings.Contains(page, `method="post"`); acts != (role == login.Operator) {
					t.Errorf("%s for role %v: buttons are shown: %t", kind.Path, role, acts)
				}
			}
		}
	}
}
