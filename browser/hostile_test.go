package browser

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
)

// hostile are texts that a careless page would run, load, hide or break on.
func hostile() []string {
	texts := []string{
		`<script>window.pwned=1</script>`,
		`</script><script>window.pwned=1</script>`,
		`"><script>window.pwned=1</script>`,
		`'><img src=x onerror=window.pwned=1>`,
		`<img src="http://192.0.2.1/x.png">`,
		`<svg onload=window.pwned=1>`,
		`<svg><script>window.pwned=1</script></svg>`,
		`<svg><use href="http://192.0.2.1/x.svg#a"/></svg>`,
		`" onmouseover="window.pwned=1" x="`,
		`' onfocus='window.pwned=1' autofocus='`,
		`javascript:window.pwned=1`,
		`data:text/html,<script>window.pwned=1</script>`,
		`<a href="javascript:window.pwned=1">click</a>`,
		`<iframe src="http://192.0.2.1/"></iframe>`,
		`<object data="http://192.0.2.1/"></object>`,
		`<link rel=stylesheet href="http://192.0.2.1/x.css">`,
		`<style>body{display:none}</style>`,
		`<meta http-equiv=refresh content="0;url=http://192.0.2.1/">`,
		`<base href="http://192.0.2.1/">`,
		`<form action="http://192.0.2.1/"><button>x`,
		`<textarea>`, `</textarea><script>window.pwned=1</script>`,
		`</title><script>window.pwned=1</script>`,
		`<!--`, `--><script>window.pwned=1</script>`, `]]><script>window.pwned=1</script>`,
		`{{.}} {{template "layout"}} ${window.pwned=1}`,
		`&lt;script&gt; &#60;script&#62; &amp;`,
		"\u202egpj.exe\u202c", "\u2066a\u2069\u200b\ufeffb", "a\u0001\u0007\u001b[31mred\u001b[0m",
		"line one\nline two\r\n\tline three", `\u0000 \x00 %00 \0`, "\u00a0\u2003 \u3000",
		`%_\`, `a+b&c=d#e?f/g;h%20i`, `../../etc/passwd`, `''; DROP TABLE task; --`,
		strings.Repeat("W", 1<<20), "🧨" + strings.Repeat("👩‍👩‍👧‍👦", 200),
	}
	if len(texts) < 40 {
		panic("they are less than forty")
	}
	return texts
}

// TestHostileTextsAreText in every field, on every page, with and without the stream.
func TestHostileTextsAreText(t *testing.T) {
	t.Parallel()
	s := play(t, nil)
	s.exec(`ALTER TABLE task ADD COLUMN "own<b>" text`)
	const short = 900 // of a key and of a group with limits, in bytes
	for i, text := range hostile() {
		name := text[:min(len(text), short)]
		name = strings.ToValidUTF8(name, "")
		s.exec(`INSERT INTO task (input, "group", key, data, notify, "own<b>", settings, active) VALUES ('SELECT ' || quote_literal($1) || ' AS ' || quote_ident(left($2, 20)), $1, $2, $1, 'c', $1, jsonb_build_object('pg_task.x', $2), '0')`, text[:min(len(text), 60_000)], fmt.Sprint(i, name))
		s.exec(`INSERT INTO task (input, "group", data) VALUES ('DO $d$BEGIN RAISE NOTICE ''%'', ' || quote_literal($1) || '; RAISE EXCEPTION ''%'', ' || quote_literal($1) || '; END$d$', 'fails', $1)`, text)
		s.exec(`INSERT INTO task (input, data, cron, key) VALUES ($1, $1, '0 0 1 1 *', $2)`, text, fmt.Sprint("job", i, name))
		s.exec(`INSERT INTO task_group ("group", slots, note) VALUES ($1, 5, $2)`, strings.TrimRight(name, "%"), text[:min(len(text), 10_000)])
	}
	servertest.Wait(t, patience, "the end of all", func() bool {
		return s.get(`SELECT count(*) FROM task WHERE cron IS NULL AND stop IS NULL`) == "0"
	})
	b := s.open("ann")
	paths := pages(s.get("SELECT min(id) FROM task"))
	var ids []string
	if err := json.Unmarshal([]byte(s.get(`SELECT json_agg(id::text ORDER BY id) FROM task`)), &ids); err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		if i%4 == 0 || i > len(ids)-10 {
			paths = append(paths, "/task?id="+id)
		}
	}
	for i, text := range hostile() {
		if len(text) < 2000 && i%3 == 0 {
			paths = append(paths, "/tasks?"+url.Values{"group": {text}, "q": {text}}.Encode(), "/tasks?"+url.Values{"q": {text}, "tz": {"UTC"}}.Encode())
		}
	}
	for _, path := range paths {
		b.visit(path)
		b.becomes("the page "+path, `document.querySelector('main')`)
		faults := eval[[]string](b, `document.querySelectorAll('textarea').forEach(e => e.remove()) /* these hold a text as it is, to be changed */, [
			window.pwned && 'a script ran',
			...[...document.querySelectorAll('iframe, object, embed, img, base, meta[http-equiv], [onload], [onerror], [onmouseover], [onfocus], [style], script:not([src]), style')].map(e => e.outerHTML.slice(0, 200)),
			...[...document.querySelectorAll('[href], [src], [action]')].filter(e => { const u = new URL(e.getAttribute('href') || e.getAttribute('src') || e.getAttribute('action'), location); return u.origin !== location.origin && u.protocol !== 'data:' }).map(e => e.outerHTML.slice(0, 200)),
			(document.body.textContent.match(/[\u0000-\u0008\u000e-\u001f\u202a-\u202e\u2066-\u2069]/) || [])[0] && 'hidden characters: ' + escape(document.body.textContent.match(/.{0,20}[\u0000-\u0008\u000e-\u001f\u202a-\u202e\u2066-\u2069].{0,20}/)[0]),
			document.documentElement.scrollWidth > innerWidth + 1 && 'it is wider than the window: ' + document.documentElement.scrollWidth,
			getComputedStyle(document.body).display === 'none' && 'it is hidden',
		].filter(Boolean)`)
		if len(faults) > 0 {
			t.Errorf("%.200s: %.2000q", path, faults)
		}
	}
}
