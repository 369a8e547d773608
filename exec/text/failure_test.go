package text

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
)

func TestErrorText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err       pgproto3.ErrorResponse
		statement string
		want      string
	}{
		{
			pgproto3.ErrorResponse{SeverityUnlocalized: "ERROR", Message: "division by zero"},
			"SELECT 1/0",
			"ERROR:  division by zero\nSTATEMENT:  SELECT 1/0",
		},
		{
			pgproto3.ErrorResponse{SeverityUnlocalized: "ERROR", Message: `relation "nosuch" does not exist`, Position: 15},
			"select 1 from nosuch",
			"ERROR:  relation \"nosuch\" does not exist at character 15\nSTATEMENT:  select 1 from nosuch",
		},
		{
			pgproto3.ErrorResponse{
				SeverityUnlocalized: "ERROR", Message: "syntax error at end of input",
				InternalPosition: 11, InternalQuery: "select 1 +",
				Where: "PL/pgSQL function inline_code_block line 1 at EXECUTE",
			},
			"DO $$\nbegin execute 'select 1 +'; end\n$$\n",
			"ERROR:  syntax error at end of input at character 11\nQUERY:  select 1 +\n" +
				"CONTEXT:  PL/pgSQL function inline_code_block line 1 at EXECUTE\n" +
				"STATEMENT:  DO $$\n\tbegin execute 'select 1 +'; end\n\t$$\n\t",
		},
		{
			pgproto3.ErrorResponse{Severity: "FATAL", Message: "a\nb", Detail: "c\n\nd", Hint: "e"},
			"",
			"FATAL:  a\n\tb\nDETAIL:  c\n\t\n\td\nHINT:  e",
		},
		{
			pgproto3.ErrorResponse{Severity: "FEHLER", SeverityUnlocalized: "ERROR", Message: ""},
			"x",
			"ERROR:  \nSTATEMENT:  x",
		},
		{
			pgproto3.ErrorResponse{SeverityUnlocalized: "ERROR", Message: "a\xffb\x00"},
			"\xfe",
			"ERROR:  a?b?\nSTATEMENT:  ?",
		},
	} {
		if got := ServerFailure(&test.err, test.statement).Text; got != test.want {
			t.Errorf("got\n%q, want\n%q", got, test.want)
		}
	}
}

func TestErrorTextIsCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä\n", Limit)
	e := &pgproto3.ErrorResponse{SeverityUnlocalized: "ERROR", Message: "m", Where: "w"}

	got := ServerFailure(e, long).Text
	if len(got) > Limit || len(got) < Limit-8 || !utf8.ValidString(got) ||
		!strings.HasPrefix(got, "ERROR:  m\nCONTEXT:  w\nSTATEMENT:  ä\n\tä") || !strings.HasSuffix(got, "...") {
		t.Errorf("a long statement: %d bytes, …%q", len(got), got[len(got)-20:])
	}

	e.Where = long
	got = ServerFailure(e, long).Text
	if len(got) > Limit || !strings.HasPrefix(got, "ERROR:  m\nCONTEXT:  ä") || !strings.HasSuffix(got, "...\nSTATEMENT:  ...") {
		t.Errorf("a long context: %d bytes, …%q", len(got), got[len(got)-40:])
	}

	e.Message = long
	got = ServerFailure(e, "SELECT 1").Text
	if len(got) > Limit || !strings.HasPrefix(got, "ERROR:  ä") || !strings.Contains(got, "...\nCONTEXT:  ...\nSTATEMENT:  ...") {
		t.Errorf("a long message: %d bytes, …%q", len(got), got[len(got)-40:])
	}
}

func TestFailure(t *testing.T) {
	t.Parallel()
	got := NewFailure("task not active", "57014")
	if got.Text != "ERROR:  task not active" || got.SQLState != "57014" {
		t.Errorf("got %+v", got)
	}
	got = NewFailure("bad cron", "22023", "DETAIL", "five fields\nor six", "HINT", "", "STATEMENT", "SELECT 1")
	if got.Text != "ERROR:  bad cron\nDETAIL:  five fields\n\tor six\nSTATEMENT:  SELECT 1" {
		t.Errorf("got %q", got.Text)
	}
}

func TestNotices(t *testing.T) {
	t.Parallel()
	var n Notices
	if text, ok := n.Text(); ok || text != "" {
		t.Errorf("none: %q, %t", text, ok)
	}
	n.Add(&pgproto3.NoticeResponse{SeverityUnlocalized: "NOTICE", Message: "a\nb", Where: "PL/pgSQL function"})
	n.Add(&pgproto3.NoticeResponse{SeverityUnlocalized: "WARNING", Message: "c", Hint: "d", Position: 8})
	want := "NOTICE:  a\n\tb\nWARNING:  c at character 8\nHINT:  d"
	if text, ok := n.Text(); !ok || text != want {
		t.Errorf("got %q, %t", text, ok)
	}
}

func TestNoticesAreBounded(t *testing.T) {
	t.Parallel()
	var n Notices
	for i := range 10_000 {
		n.Add(&pgproto3.NoticeResponse{SeverityUnlocalized: "NOTICE", Message: fmt.Sprint(i)})
	}
	text, _ := n.Text()
	lines := strings.Split(text, "\n")
	if want := fmt.Sprintf("... and %d more", 10_000-(len(lines)-1)); len(text) > Limit || lines[len(lines)-1] != want {
		t.Errorf("%d bytes end with %q, want %q", len(text), lines[len(lines)-1], want)
	}

	n = Notices{}
	n.Add(&pgproto3.NoticeResponse{SeverityUnlocalized: "NOTICE", Message: strings.Repeat("x", 2*Limit)})
	n.Add(&pgproto3.NoticeResponse{SeverityUnlocalized: "NOTICE", Message: "y"})
	if text, _ := n.Text(); len(text) > Limit || !strings.HasSuffix(text, "xxx...\n... and 1 more") {
		t.Errorf("%d bytes end with %q", len(text), text[len(text)-40:])
	}
}

func FuzzErrorText(f *testing.F) {
	f.Add("a\nb", "c", "SELECT 1", 1)
	f.Add("\xff\x00", "€", "€\n", Limit)
	f.Fuzz(func(t *testing.T, message, detail, statement string, times int) {
		long := strings.Repeat(statement, max(0, times%Limit)/max(1, len(statement)))
		e := &pgproto3.ErrorResponse{Severity: "ERROR", Message: message, Detail: detail, Where: long}
		var n Notices
		n.Add((*pgproto3.NoticeResponse)(e))
		n.Add((*pgproto3.NoticeResponse)(e))
		notices, _ := n.Text()
		for _, text := range []string{ServerFailure(e, long).Text, notices} {
			if len(text) > Limit || !utf8.ValidString(text) || strings.Contains(text, "\x00") || !strings.HasPrefix(text, "ERROR:  ") {
				t.Errorf("%d bytes: %.100q", len(text), text)
			}
		}
	})
}
