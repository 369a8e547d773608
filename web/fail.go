package web

import (
	"bytes"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"strings"

	"pgtaskd/web/edit"
	"pgtaskd/web/login"
	"pgtaskd/web/page"
	"pgtaskd/web/rows"
)

//go:embed html/*.html
var files embed.FS

// plain has the pages that need no target: the form to log in, and what cannot be.
var plain = template.Must(template.ParseFS(files, "html/*.html"))

// small is what they show.
type small struct {
	Prefix, Fault, Back string
	Again               bool // another site's link has led here, and the browser kept the cookie back
}

// statusOf returns the status of an error. What is nobody's mistake is the server's state: a table
// that cannot be read, or a statement that took too long.
func statusOf(err error) int {
	var refused *edit.Refused
	switch {
	case errors.As(err, &refused):
		return refused.Status
	case errors.As(err, new(*http.MaxBytesError)):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, login.ErrToken):
		return http.StatusUnauthorized
	case errors.Is(err, login.ErrTries):
		return http.StatusTooManyRequests
	}
	return http.StatusServiceUnavailable
}

// fail answers with an error: one line, or a page for a browser. Without a login, a page is the form.
func (q *request) fail(err error) {
	status, text := statusOf(err), line(err.Error())
	if errors.Is(err, rows.ErrSlow) {
		text += ": narrow the filter, or try again"
	}
	if status == http.StatusUnauthorized {
		q.w.Header().Set("WWW-Authenticate", "Bearer")
	}
	switch {
	case status == http.StatusUnauthorized && (q.isPage() || q.browser()):
		form := small{Back: q.back(), Again: q.Header.Get("Sec-Fetch-Site") == "cross-site"}
		if errors.Is(err, login.ErrToken) {
			form.Fault = text
		}
		q.small("login", status, form)
	case q.browser():
		q.small("fault", status, small{Fault: text})
	default:
		_ = answer(q.w, status, text)
	}
}

// back returns where a login leads: to the page itself, or to that from which somebody acts.
func (q *request) back() string {
	const most = 64 << 10 // of the body of somebody unknown
	switch {
	case reads(q.Method):
		return q.URL.RequestURI()
	case q.ContentLength < 0 || q.ContentLength > most:
		return q.settings.Prefix + "/"
	}
	return login.Local(q.PostFormValue("back"), q.settings.Prefix)
}

// isPage reports whether the request is for an HTML page.
func (q *request) isPage() bool {
	methods := routes[q.below()]
	return reads(q.Method) && len(methods) > 0 && methods[0].form
}

func (q *request) small(name string, status int, s small) {
	s.Prefix = q.settings.Prefix
	var text bytes.Buffer
	if err := plain.ExecuteTemplate(&text, name, s); err != nil {
		_ = answer(q.w, http.StatusInternalServerError, "the page cannot be written")
		return
	}
	_ = page.Send(q.w, status, "text/html; charset=utf-8", text.Bytes()) // which never fails
}

func loginForm(q *request) error {
	back := login.Local(q.URL.Query().Get("back"), q.settings.Prefix)
	if q.users.None() {
		return q.redirect(http.StatusSeeOther, back, "")
	}
	q.small("login", http.StatusOK, small{Back: back})
	return nil
}

// enter logs somebody in, and leads back to where they came from.
func enter(q *request) error {
	if err := q.ParseForm(); errors.As(err, new(*http.MaxBytesError)) {
		return err
	} else if err != nil {
		return page.Wrong("the form cannot be read: %s", err)
	}
	back := login.Local(q.PostForm.Get("back"), q.settings.Prefix)
	if rest := strings.TrimPrefix(back, q.settings.Prefix); strings.HasPrefix(rest, "/login") {
		back = q.settings.Prefix + "/"
	}
	err := q.users.Enter(q.w, q.Request, strings.TrimSpace(q.PostForm.Get("token")))
	if err != nil {
		q.small("login", statusOf(err), small{Fault: line(err.Error()), Back: back})
		return nil
	}
	return q.redirect(http.StatusSeeOther, back, "")
}

func leave(q *request) error {
	q.users.Leave(q.w)
	return q.redirect(http.StatusSeeOther, q.settings.Prefix+"/login", "")
}
