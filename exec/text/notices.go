package text

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Notices gathers the notices and warnings of one run, in the form of errors, up to 64 kB; the zero
// value is empty. It belongs to the goroutine that reads the server's messages.
type Notices struct {
	text strings.Builder
	more int // how many found no room
}

// noticeRoom is what a notice needs at least to be worth beginning, and noticeRest is kept for the
// last line.
const (
	noticeRoom = 256
	noticeRest = 64
)

// Add takes a notice. It leaves out the context, as psql does, since each line of PL/pgSQL that
// raises a notice would repeat it.
func (n *Notices) Add(notice *pgproto3.NoticeResponse) {
	room := Limit - noticeRest - n.text.Len() - len("\n")
	if n.more > 0 || room < noticeRoom {
		n.more++
		return
	}
	if n.text.Len() > 0 {
		n.text.WriteByte('\n')
	}
	n.text.WriteString(logText(errorLines((*pgproto3.ErrorResponse)(notice)), room))
}

// Text returns the notices in the order in which they came; ok is false when there were none.
func (n *Notices) Text() (text string, ok bool) {
	if n.text.Len() == 0 {
		return "", false
	}
	if n.more == 0 {
		return n.text.String(), true
	}
	return fmt.Sprintf("%s\n%s and %d more", n.text.String(), cutMark, n.more), true
}
