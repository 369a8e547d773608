package web

import (
	"io/fs"
	"mime"
	"net/http"
	"path"

	"pgtaskd/web/edit"
	"pgtaskd/web/login"
	"pgtaskd/web/page"
)

// bodyMost and actMost limit the bodies of requests, in bytes. That of an act may have the data of
// a task, in which each byte may be written by three.
const (
	bodyMost = 1 << 20
	actMost  = 32 << 20
)

// route is one way to answer requests.
type route struct {
	method string // GET, which answers HEAD too, or POST
	path   string // below the prefix
	least  login.Role
	answer func(*request) error
	// monitor: without the prefix too, and on any address. Any Host will do, unless the address is
	// a loopback one.
	monitor bool
	most    int64 // of the body, if not bodyMost
	form    bool  // without a login, it answers with the form
}

// table has all routes, each with the role that it needs.
var table = append([]route{
	{method: "GET", path: "/healthz", answer: alive, monitor: true},
	{method: "GET", path: "/readyz", answer: ready, monitor: true},
	{method: "GET", path: "/metrics", answer: metrics, monitor: true},
	{method: "GET", path: "/login", answer: loginForm},
	{method: "POST", path: "/login", answer: enter},
	{method: "POST", path: "/logout", answer: leave},
	{method: "GET", path: "/events", least: login.Reader, answer: events},
	{method: "POST", path: "/act", least: login.Operator, answer: acts, most: actMost},
	{method: "POST", path: "/group", least: login.Operator, answer: group},
	{method: "POST", path: "/kill", least: login.Operator, answer: kill},
}, append(pages(), static()...)...)

// routes are those of the table, by path.
var routes = func() map[string][]route {
	all := map[string][]route{}
	for _, r := range table {
		all[r.path] = append(all[r.path], r)
	}
	return all
}()

// pages has two routes for each kind of page: HTML and JSON.
func pages() (all []route) {
	for _, kind := range page.Kinds {
		all = append(all, route{method: "GET", path: kind.Path, least: login.Reader, answer: func(q *request) error { return q.html(&kind) }, form: true})
		if kind.Raw == nil {
			all = append(all, route{method: "GET", path: kind.Path + ".json", least: login.Reader, answer: func(q *request) error { return q.json(&kind) }})
		}
	}
	return all
}

// static has a route for each file of the page. The form to log in needs them, too.
func static() (all []route) {
	_ = fs.WalkDir(page.Static, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		all = append(all, route{method: "GET", path: "/" + name, answer: func(q *request) error {
			text, err := page.Static.ReadFile(name)
			if err != nil {
				return err
			}
			return page.Send(q.w, http.StatusOK, mime.TypeByExtension(path.Ext(name)), text)
		}})
		return nil
	})
	return all
}

func events(q *request) error {
	query := q.URL.Query()
	path := query.Get("page")
	query.Del("page")
	for _, kind := range page.Kinds {
		if kind.Raw == nil && (kind.Path == path || path == "" && kind.Path == "/") {
			asked, err := q.asked(&kind, query.Encode())
			if err != nil {
				return err
			}
			return q.site.hub.Events(q.w, q.Request, asked, q.ends)
		}
	}
	return page.Wrong("page must be the path of a page, such as /tasks")
}

func acts(q *request) error  { return q.site.acts.Act(q.w, q.Request, q.sender("/act")) }
func group(q *request) error { return q.site.acts.Group(q.w, q.Request, q.sender("/group")) }

// kill ends the leading controller of the demo.
func kill(q *request) error {
	if q.site.Demo == nil {
		return edit.Refuse(http.StatusNotFound, "only the demo's leader can be killed from here")
	}
	q.site.Demo.Kill()
	return q.redirect(http.StatusSeeOther, login.Local(q.PostFormValue("back"), q.settings.Prefix), "")
}

// sender is what an act knows of its request. Its parameters are in the body.
func (q *request) sender(path string) *page.Asked {
	return &page.Asked{Kind: &page.Kind{Path: path}, Targets: q.site.targets.pages(), Query: q.URL.Query(), User: q.user, Hidden: q.hidden(), Prefix: q.settings.Prefix, Config: q.settings.File}
}

// redirect leads to a path of this site.
func (q *request) redirect(status int, path, query string) error {
	if query != "" {
		path += "?" + query
	}
	q.w.Header().Set("Location", path)
	q.w.WriteHeader(status)
	return nil
}
