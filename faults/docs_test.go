package faults

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// known are phrases in the errors of log lines that TestFaults and other tests wait for, some in
// other folders.
var known = []string{
	promoted, starting, full, "terminating connection due to administrator command", "failed to connect", "(SQLSTATE 53300)", "created column", "panic", "stack", "does not limit groups",
	"has TRIGGER on table", "owns table", "may CREATE in schema", "very many ids that come next are taken", "may hide tasks from role", "out of shared memory", "the server's table of locks is full",
	"runs each task under the role that inserted it", "is a partition or child of the table", "is missing or not enabled always", "has a column role and no trigger that guards it", "what may not be replaced", "which this version would add", "is on the way to the server", "another session is changing the schema of the task tables",
}

// Parts of log lines about a standby, a server that is not up, a full disk and its end, and a
// session that holds a lock.
const (
	promoted  = "in recovery: it takes no writes until it is promoted"
	starting  = "(SQLSTATE 57P03)"
	full      = "tasks wait until there is room on the server's disk"
	roomAgain = "there is room on the server's disk again"
)

// computed are the messages that are not constants: the Go expression, and phrases of it that the
// documentation has.
var computed = map[string][]string{
	"warning": {"contains a password"},
	"why":     {"goes without a register of sessions: those of a previous leader"},
	"wake.Impossible(t.Target.Wake, obstacles)": {"is not possible"},
	"summary(made)":              {"created column"},
	"c.Note":                     nil,
	"acting":                     nil,
	"found.Say":                  nil,
	"human.Visible(err.Error())": {"is a copy, and not served", "the server is stale"},
	"human.Visible(text)":        {"owns table", "has TRIGGER on table", "may CREATE in schema"}, // from the door
	`"created " + what`:          nil,                                                            // only informational
}

// programFolders are the folders whose log lines the documentation explains.
var programFolders = []string{"../*.go", "../apply", "../ask", "../conf", "../demo", "../exec", "../remote", "../routine", "../sql", "../web", "../work"}

// TestEachLineOfTheLogIsExplained: the documentation's table has each message of level warn or
// error. Each of its quotes is a message, or a part of an error that a test waits for.
func TestEachLineOfTheLogIsExplained(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## What to do when\n")
	section, _, _ = strings.Cut(section, "\n## ")
	messages := logged(t)
	awaited := slices.Clone(known)
	for _, f := range faults {
		awaited = append(awaited, append(f.says, f.check)...)
	}
	for _, m := range messages {
		awaited = append(awaited, m.texts...)
	}
	var quoted []string
	for line := range strings.Lines(section) {
		columns := strings.Split(line, " | ")
		if len(columns) < 4 || strings.HasPrefix(line, "| what") || strings.HasPrefix(line, "| ---") {
			continue
		}
		for _, phrase := range regexp.MustCompile("`[^`]+`").FindAllString(columns[1], -1) {
			phrase = strings.Trim(phrase, "`")
			if !slices.ContainsFunc(awaited, func(part string) bool { return strings.Contains(part, phrase) }) {
				t.Errorf("no line of the log says %q, and no test awaits it", phrase)
			}
		}
		for _, phrase := range regexp.MustCompile("`[^`]+`").FindAllString(line, -1) {
			quoted = append(quoted, strings.Trim(phrase, "`"))
		}
	}
	for _, m := range messages {
		for _, text := range m.texts {
			if !m.minor && !slices.ContainsFunc(quoted, func(phrase string) bool { return len(phrase) > 5 && strings.Contains(text, phrase) }) {
				t.Errorf("%s: docs/operations.md does not explain %q", m.place, text)
			}
		}
	}
	if len(messages) < 40 || len(quoted) < 40 {
		t.Errorf("found only %d messages and %d quotations", len(messages), len(quoted))
	}
}

type message struct {
	place string
	texts []string
	minor bool // level info or lower
}

// logged returns the messages in the program's source.
func logged(t *testing.T) (all []message) {
	t.Helper()
	files := token.NewFileSet()
	for _, folder := range programFolders {
		paths, err := filepath.Glob(folder)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v", folder, err)
		}
		for _, path := range paths {
			if err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
					return err
				}
				parsed, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
				if err != nil {
					return err
				}
				ast.Inspect(parsed, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok {
						if m, ok := messageOf(t, files, call); ok {
							all = append(all, m)
						}
					}
					return true
				})
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

// messageOf returns the message that a call of zerolog's Msg logs.
func messageOf(t *testing.T, files *token.FileSet, call *ast.CallExpr) (m message, ok bool) {
	t.Helper()
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "Msg" && selector.Sel.Name != "Msgf" || len(call.Args) == 0 {
		return m, false
	}
	m = message{place: files.Position(call.Pos()).String()}
	ast.Inspect(selector.X, func(n ast.Node) bool {
		if part, ok := n.(*ast.SelectorExpr); ok && slices.Contains([]string{"Info", "Debug", "Trace"}, part.Sel.Name) {
			m.minor = true
		}
		return true
	})
	if literal, ok := call.Args[0].(*ast.BasicLit); ok {
		text, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Fatal(err)
		}
		m.texts = []string{text}
		return m, true
	}
	var source bytes.Buffer
	if err := printer.Fprint(&source, files, call.Args[0]); err != nil {
		t.Fatal(err)
	}
	texts, known := computed[source.String()]
	if !known {
		t.Errorf("%s: a message that is no constant, and of which computed says nothing: %s", m.place, source.String())
	}
	m.texts = texts
	return m, true
}
