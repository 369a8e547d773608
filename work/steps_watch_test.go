package work

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"pgtaskd/server/proxy"
)

// moment is a message at which a controller dies: before or right after it passes. It has the name
// of the message, and its number among those with the same name.
type moment struct {
	name  string
	count int
	after bool
}

func (m moment) String() string {
	when := "before"
	if m.after {
		when = "after"
	}
	return fmt.Sprintf("%s %s, number %d", when, m.name, m.count)
}

func (m moment) rightAfter() moment { return moment{m.name, m.count, true} }

// sight is a message as a witness has seen it.
type sight struct {
	moment
	fromClient bool
	acts       bool // it makes the server act
	change     bool // the server says that a statement has changed something
}

// witness sees the messages between a controller and its server. At a moment it lets nothing pass
// any more, as if the controller were killed.
type witness struct {
	mu    sync.Mutex
	talks map[int]*talk
	count map[string]int
	seen  []sight
	last  moment
	dead  bool
	died  chan struct{} // closed at that moment
}

// talk is one connection.
type talk struct {
	who        string
	statements map[string]string // texts from Parse
	portals    map[string]string // texts from Bind
	last       string            // the statement that Sync ends
}

// witnessOf lets a controller die at the moment. Without a moment it only watches.
func witnessOf(last moment) *witness {
	return &witness{talks: map[int]*talk{}, count: map[string]int{}, last: last, died: make(chan struct{})}
}

func (w *witness) killed() bool {
	select {
	case <-w.died:
		return true
	default:
		return false
	}
}

// sights returns the messages so far, and how many names they have.
func (w *witness) sights() (seen []sight, names int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen), len(w.count)
}

func (w *witness) watch(conn int, fromClient bool, kind byte, body []byte) proxy.Verdict {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return proxy.Cut
	}
	t := w.talks[conn]
	if t == nil {
		t = &talk{who: "connection", statements: map[string]string{}, portals: map[string]string{}}
		w.talks[conn] = t
	}
	name := t.server(kind, body)
	if fromClient {
		name = t.client(kind, body)
	}
	name += " of a " + t.who
	w.count[name]++
	m := moment{name: name, count: w.count[name]}
	w.seen = append(w.seen, sight{
		moment: m, fromClient: fromClient, acts: strings.IndexByte("QSF", kind) >= 0 || kind == proxy.Startup,
		change: !fromClient && kind == 'C' && (strings.HasPrefix(string(body), "UPDATE") || strings.HasPrefix(string(body), "INSERT")),
	})
	m.after = w.last.after
	switch {
	case m != w.last:
		return proxy.Pass
	case m.after:
		w.dead = true
		close(w.died)
		return proxy.PassThenCut
	}
	w.dead = true
	close(w.died)
	return proxy.Cut
}

var clientKinds = map[byte]string{
	proxy.Startup: "Startup", proxy.CancelRequest: "CancelRequest", 'Q': "Query", 'P': "Parse", 'B': "Bind", 'E': "Execute", 'D': "Describe",
	'C': "Close", 'S': "Sync", 'H': "Flush", 'X': "Terminate", 'p': "Password", 'f': "CopyFail",
}

// client names a message of the controller, with the first words of its statement.
func (t *talk) client(kind byte, body []byte) string {
	texts := strings.Split(string(body), "\x00")
	about := ""
	switch kind {
	case proxy.Startup:
		for i, text := range texts {
			if strings.HasSuffix(text, "application_name") && i+1 < len(texts) {
				t.who, _, _ = strings.Cut(texts[i+1], " ")
			}
		}
	case 'Q':
		about = head(texts[0])
	case 'P':
		// Two statements may begin with the same words.
		about = fmt.Sprint(head(texts[1]), " (", len(texts[1]), " bytes)")
		t.statements[texts[0]] = about
		t.last = ""
	case 'B':
		about = t.statements[texts[1]]
		t.portals[texts[0]] = about
		t.last = about
	case 'E':
		about = t.portals[texts[0]]
	case 'S':
		about = t.last
	case 'D', 'C':
		if about = t.portals[texts[0][1:]]; body[0] == 'S' {
			about = t.statements[texts[0][1:]]
		}
	}
	return strings.TrimSpace(named(clientKinds, kind) + " " + about)
}

var serverKinds = map[byte]string{
	'R': "Authentication", 'S': "ParameterStatus", 'K': "BackendKeyData", 'Z': "ReadyForQuery", 'C': "CommandComplete", 'E': "ErrorResponse",
	'N': "NoticeResponse", 'A': "NotificationResponse", 'T': "RowDescription", 'D': "DataRow", 'I': "EmptyQueryResponse", '1': "ParseComplete",
	'2': "BindComplete", '3': "CloseComplete", 'n': "NoData", 't': "ParameterDescription", 's': "PortalSuspended",
}

var (
	digits   = regexp.MustCompile(`[0-9]+`)
	comments = regexp.MustCompile(`(?m)^\s*--.*$`)
)

// server names a message of the server, with its tag, state or code.
func (t *talk) server(kind byte, body []byte) string {
	about := ""
	switch kind {
	case 'C':
		about = strings.TrimSpace(digits.ReplaceAllString(strings.Trim(string(body), "\x00"), ""))
	case 'Z':
		about = string(body)
	case 'E':
		for _, field := range bytes.Split(body, []byte{0}) {
			if len(field) > 0 && field[0] == 'C' {
				about = string(field[1:])
			}
		}
	}
	return strings.TrimSpace(named(serverKinds, kind) + " " + about)
}

func named(kinds map[byte]string, kind byte) string {
	if name := kinds[kind]; name != "" {
		return name
	}
	return fmt.Sprintf("%q", kind)
}

func head(sql string) string {
	words := strings.Fields(comments.ReplaceAllString(sql, ""))
	return digits.ReplaceAllString(strings.Join(words[:min(len(words), 3)], " "), "0")
}
