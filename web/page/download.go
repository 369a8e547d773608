package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"pgtaskd/human"
	"pgtaskd/web/edit"
	"pgtaskd/web/rows"
)

// downloadPage streams a text of a task, however long it is.
var downloadPage = Kind{Path: "/download", Name: "download", Takes: []string{"id", "column"}, Raw: download}

const (
	pieceLeast = 4 << 20          // bytes
	piecesMost = 32               // of a text: each costs the server the whole text
	pieceLimit = 30 * time.Second // for the server to read a piece
	clientWait = 2 * time.Minute  // for the client to take one
	maskedMost = 8 << 20          // bytes of a text in which passwords are masked; usually it has 64 kB
)

// downloads limits the pieces in memory. Only one piece is read at a time, so that the other session
// on its server is left to the pages.
var downloads, reading = make(chan struct{}, 4), make(chan struct{}, 1)

var errDownloads = errors.New("too many downloads are under way: try again")

// source is a text to download.
type source struct {
	sessions *rows.Sessions
	asked    *Asked
	target   Target
	id       int64
	column   string
}

// download writes a text in pieces. Between them it has no session, so a slow client holds none. If
// the row changes meanwhile, the answer ends too soon, which its length shows to the client.
func download(w http.ResponseWriter, r *http.Request, s *rows.Sessions, a *Asked) error {
	from, err := sourceOf(s, a)
	if err != nil {
		return err
	}
	select {
	case downloads <- struct{}{}:
		defer func() { <-downloads }()
	default:
		return errDownloads
	}
	first, err := from.piece(r.Context(), 0, pieceLeast)
	if err != nil {
		return err
	}
	if first.Whole < 0 {
		return edit.Refuse(http.StatusNotFound, "task %d has no %s", from.id, from.column)
	}
	if first, err = from.masked(r.Context(), first); err != nil {
		return err
	}
	head := w.Header()
	head.Set("Content-Type", "text/plain; charset=utf-8")
	head.Set("Content-Disposition", "attachment; filename="+from.filename())
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Content-Length", strconv.FormatInt(first.Whole, 10))
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // the server's limit for a request would end the answer
	for sent, next := int64(0), first; ; {
		_ = control.SetWriteDeadline(time.Now().Add(clientWait))
		if r.Method == http.MethodHead {
			return nil
		}
		if _, err := w.Write(next.Text); err != nil {
			return nil // the client has gone
		}
		if sent += int64(len(next.Text)); sent >= first.Whole {
			return nil
		}
		most := max(pieceLeast, first.Whole/piecesMost)
		next, err = from.piece(r.Context(), sent, most)
		if err != nil || next.Version != first.Version || len(next.Text) == 0 {
			return nil // too late for an error
		}
	}
}

func sourceOf(s *rows.Sessions, a *Asked) (from source, err error) {
	from = source{sessions: s, asked: a, column: a.Query.Get("column")}
	if from.target, err = a.Target(); err != nil {
		return from, err
	}
	if from.id, err = a.id("id"); err != nil {
		return from, err
	}
	if !slices.Contains(rows.Texts, from.column) {
		return from, Wrong("column must be one of %s, not %q", strings.Join(rows.Texts, ", "), from.column)
	}
	if slices.Contains(a.Hidden.Names(), from.column) {
		return from, edit.Refuse(http.StatusForbidden, "readers do not see the column %s", from.column)
	}
	return from, nil
}

// piece reads a piece of the text.
func (f source) piece(ctx context.Context, from, most int64) (piece *rows.Piece, err error) {
	select {
	case reading <- struct{}{}:
		defer func() { <-reading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	err = f.sessions.Read(ctx, f.target.Target, pieceLimit, func(ctx context.Context, b *rows.Table) (err error) {
		piece, err = b.Piece(ctx, f.id, f.column, from, most)
		return err
	})
	if err == nil && piece == nil {
		err = edit.Refuse(http.StatusNotFound, "there is no task %d in %s: it may have ended well and been deleted", f.id, f.target.Name)
	}
	return piece, err
}

// masked returns the whole of an error or a notice as the user may see it, and other texts as they
// are.
func (f source) masked(ctx context.Context, first *rows.Piece) (*rows.Piece, error) {
	if f.column != "error" && f.column != "notice" {
		return first, nil
	}
	if first.Whole > maskedMost {
		return nil, edit.Refuse(http.StatusForbidden, "this %s is too long to mask the passwords in it", f.column)
	}
	all, err := f.piece(ctx, 0, maskedMost)
	if err != nil {
		return nil, err
	}
	text := string(all.Text)
	if f.column == "error" {
		text = f.asked.Hidden.Error(text)
	} else {
		text = human.Masked(text)
	}
	return &rows.Piece{Text: []byte(text), Whole: int64(len(text))}, nil
}

var unsafe = regexp.MustCompile(`[^A-Za-z0-9_]`)

// filename is a name that all systems accept.
func (f source) filename() string {
	table := unsafe.ReplaceAllString(f.target.Table, "_")
	return fmt.Sprintf("%s-%d-%s.txt", table, f.id, f.column)
}
