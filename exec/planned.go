package exec

import (
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// What several of the queries that are sent at once run is planned once, by the extended protocol. Since all of them had been claimed before it is planned, the plan is of a
// time after whatever was there when they came; what is sent later is planned anew.

const inputName = "pgtask_input"

// varies tells what another run by the same plan would show otherwise: constants, which their type's own input reads; parameters; names so long that the parser gives notice of
// it; and the list of portals, of which the run's own is one then.
func (t token) varies() bool {
	switch t.kind {
	case tokenWord, tokenName, tokenCodedName:
		return len(t.text) >= 64 || strings.EqualFold(t.text, "pg_cursors") || strings.EqualFold(t.text, "pg_cursor")
	case tokenString:
		return true
	case tokenOther:
		return strings.IndexByte(t.text, '$') >= 0
	}
	return false
}

// sendFlown queues the SQL of a task, with others to be sent behind it. Not with save, as what one leaves may be a setting by which another is planned otherwise. bound: it is a
// statement of the extended protocol.
func (s *Session) sendFlown(t *Task, behind []*Task) (bound bool) {
	switch {
	case !t.Traits.Plain || t.Save || s.planned != t.Input && (len(behind) == 0 || behind[0].Input != t.Input):
		s.query(t.Input)
		return false
	case s.planned != t.Input:
		s.front.SendClose(&pgproto3.Close{ObjectType: 'S', Name: inputName})
		s.front.SendParse(&pgproto3.Parse{Name: inputName, Query: t.Input})
		s.planned = t.Input
	}
	s.front.SendBind(&pgproto3.Bind{PreparedStatement: inputName})
	s.front.SendDescribe(&pgproto3.Describe{ObjectType: 'P'})
	s.front.SendExecute(&pgproto3.Execute{})
	return true
}

// unplanned tells the errors of a plan that does not serve: it is gone, with all that is prepared, or what it returns has another form by now. Those that a function
// meets have a context.
func (s *Session) unplanned(failure *pgproto3.ErrorResponse) bool {
	return failure.Where == "" && (s.forgotten(failure) || failure.Code == "0A000" && failure.Routine == "RevalidateCachedQuery")
}
