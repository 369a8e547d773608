package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"pgtaskd/human"
	"pgtaskd/work"
)

// headMost is how many lines the head of one target takes.
const headMost = 6

// errUnread: no target can be read; the heads say why.
var errUnread = errors.New("nothing could be read")

// Once prints all lists, in lines of at most this width. It fails if it could read nothing.
func Once(ctx context.Context, out io.Writer, targets []work.Target, width int) error {
	r := newReader(targets)
	defer r.sessions.Close()
	var b strings.Builder
	line := func(text string) { b.WriteString(human.Cut(text, width) + "\n") }
	read := false
	for i, name := range names {
		v := r.read(ctx, i)
		read = read || v.err == nil
		if i == 0 {
			for _, head := range heads(v.heads) {
				for _, part := range human.Wrap(head.text, width, headMost) {
					line(part)
				}
			}
		}
		if v.err != nil {
			continue
		}
		line("")
		line(fmt.Sprintf("%s: %d", name, len(v.table.rows)))
		widths := v.table.widths(width)
		if len(v.table.rows) > 0 {
			line(v.table.header(widths))
		}
		for _, row := range v.table.rows {
			line(v.table.line(widths, row.cells))
		}
		for _, note := range v.table.notes {
			for _, part := range human.Wrap(note, width, headMost) {
				line(part)
			}
		}
	}
	_, err := io.WriteString(out, b.String())
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && !read {
		err = errUnread
	}
	return err
}
