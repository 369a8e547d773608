package work

import (
	"testing"
)

// TestTheQueueOfNotificationsIsLookedAt with the columns.
func TestTheQueueOfNotificationsIsLookedAt(t *testing.T) {
	t.Parallel()
	s := prepared(t, func(t *Target) { t.Run = 0 })
	l := s.installed()
	queue := -1.0
	if err := l.control.conn.QueryRow(t.Context(), l.queries().Text("columns"), "public", "task").Scan(nil, nil, nil, &queue); err != nil || queue < 0 {
		t.Error(queue, err)
	}
}
