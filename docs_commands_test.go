package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
)

// TestCommandsPrintWhatTheDocumentsShow runs each line after a $ in the chapter "Commands" of
// docs/operations.md, in order, in a served database, and compares the output. … stands for omitted
// lines. Spaces, moments, durations, processes and databases may differ. It also runs blocks of
// sql, except after <!-- not run -->.
func TestCommandsPrintWhatTheDocumentsShow(t *testing.T) {
	text, err := os.ReadFile("docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, chapter, found := strings.Cut(string(text), "\n## Commands\n")
	if !found {
		t.Fatal("there is no chapter Commands")
	}
	chapter, _, _ = strings.Cut(chapter, "\n## ")
	dsn := servertest.Database(t)
	environment(t, dsn)
	start(t).leads(1)
	if commands := showAll(t, dsn, chapter); commands < 5 {
		t.Error("there are ", commands, " commands")
	}
}

// TestRecipeForCI needs no other controller.
func TestRecipeForCI(t *testing.T) {
	text, err := os.ReadFile("docs/recipes/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	dsn := tasktest.Database(t)
	showAll(t, dsn, string(text))
	if bills := servertest.Get(t, servertest.Connect(t, dsn), "SELECT count(*) FROM bill"); bills != "1" {
		t.Error(bills, " bills")
	}
}

// TestCopiesAreAdoptedAsShown in docs/copies.md.
func TestCopiesAreAdoptedAsShown(t *testing.T) {
	text, err := os.ReadFile("docs/copies.md")
	if err != nil {
		t.Fatal(err)
	}
	dsn := tasktest.Database(t)
	if out, errs, _ := command(t, "drain", dsn); out == "" {
		t.Fatal(errs)
	}
	conn := servertest.Connect(t, dsn)
	servertest.Exec(t, conn, "INSERT INTO task (input, plan) VALUES ('SELECT 1', now()), ('SELECT 2', 'infinity')")
	servertest.Exec(t, conn, `UPDATE task_leader SET place = jsonb_set(place, '{database}', '1')`)
	if commands := showAll(t, dsn, string(text)); commands != 2 {
		t.Error("there are ", commands, " commands")
	}
}

// showAll runs the blocks of a text, and returns the number of commands.
func showAll(t *testing.T, dsn, text string) (commands int) {
	t.Helper()
	level := zerolog.GlobalLevel() // commands change it
	t.Cleanup(func() { zerolog.SetGlobalLevel(level) })
	conn := servertest.Connect(t, dsn)
	for _, block := range fenced.FindAllStringSubmatch(text, -1) {
		switch {
		case block[1] != "":
			continue
		case block[2] == "sql":
			servertest.Exec(t, conn, block[3])
			continue
		}
		for _, example := range strings.Split("\n"+block[3], "\n$ pgtaskd ")[1:] {
			commands++
			line, want, _ := strings.Cut(example, "\n")
			shows(t, strings.Replace(line, "dbname=shop", `"`+dsn+`"`, 1), want)
		}
	}
	return commands
}

var fenced = regexp.MustCompile("(?s)(<!-- not run -->\n)?```(sql|console)\n(.*?)```")

// shows runs a command until its output matches. A command that changes something runs only once.
func shows(t *testing.T, line, want string) {
	t.Helper()
	pattern := regexp.QuoteMeta(strings.Join(strings.Fields(varying.ReplaceAllString(want, "…")), " "))
	pattern = "^" + strings.ReplaceAll(pattern, "…", ".*?") + "$"
	args := words(line)
	var got string
	try := func() bool {
		out, errs, _ := command(t, args...)
		got = errs + out
		return slices.ContainsFunc([]string{errs + out, out + errs}, func(text string) bool {
			return regexp.MustCompile(pattern).MatchString(strings.Join(strings.Fields(text), " "))
		})
	}
	once := slices.Contains([]string{"stop", "again", "pause", "resume", "adopt"}, args[0])
	if once && !try() || !once && !servertest.Comes(15*time.Second, try) {
		t.Fatalf("pgtaskd %s prints\n%s\nand not\n%s", line, got, want)
	}
}

// varying matches text that differs from run to run.
var varying = regexp.MustCompile(`20\d\d-\d\d-\d\d \S+|\([\d.]+ m?s\)|\b\d+ ms\b|pid \d+|\S+ process \d+|\bshop\b`)

// words splits a command line, which may have quotes.
func words(line string) (all []string) {
	line, _, _ = strings.Cut(line, "  #")
	for _, word := range quoted.FindAllStringSubmatch(line, -1) {
		all = append(all, word[1]+word[2])
	}
	return all
}

var quoted = regexp.MustCompile(`"([^"]*)"|(\S+)`)
