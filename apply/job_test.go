package apply_test

import (
	"fmt"
	"strings"
	"testing"

	"pgtaskd/apply"
)

// TestFaultsOfAFileNameTheirPlace: faults that can be found without the table.
func TestFaultsOfAFileNameTheirPlace(t *testing.T) {
	t.Parallel()
	const rest = "  input: SELECT 1\n  repeat: 1 h\n"
	cases := map[string]struct{ text, want string }{
		"no yaml":              {"- key: 'x", "line 1, column 8: the closing quote is missing"},
		"a broken list":        {"[", "line 1, column 1: sequence end token ']' not found"},
		"a tab":                {"-\tkey: a\n\tb: c", "line 1, column 5: tab character"},
		"cron without quotes":  {"- key: a\n  input: SELECT 1\n  cron: */5 * * * * # often\n", `line 3, column 9: quote it, as YAML means something else without quotes: cron: "*/5 * * * *"`},
		"every minute":         {"- key: a\n  cron: * * * * *\n  input: SELECT 1\n", `line 2, column 9: quote it, as YAML means something else without quotes: cron: "* * * * *"`},
		"a word for cron":      {"- key: a\n  cron: @daily\n", `line 2, column 9: quote it, as YAML means something else without quotes: cron: "@daily"`},
		"a colon in a value":   {"- key: a\n  data: secret: x\n", `line 2, column 9: quote it, as YAML means something else without quotes: data: "…"`},
		"an & in a value":      {"- key: a\n  input: &SELECT 1\n  repeat: 1 h\n", `line 2, column 10: quote it, as YAML means something else without quotes: input: "…"`},
		"only an anchor":       {"- key: a\n  input: &x\n  repeat: 1 h\n", `line 2, column 10: quote it, as YAML means something else without quotes: input: "…"`},
		"an ! in a value":      {"- key: a\n  input: !SELECT 1\n  repeat: 1 h\n", `line 2, column 10: quote it, as YAML means something else without quotes: input: "…"`},
		"only a tag":           {"- key: a\n  input: !x\n  repeat: 1 h\n", `line 2, column 10: quote it, as YAML means something else without quotes: input: "…"`},
		"a tag in a flow":      {"- {key: a, input: !x 1, repeat: 1 h}\n", `line 1, column 19: quote the value, as YAML means something else by its first character`},
		"a tab for blanks":     {"- key: a\n\tinput: x\n", "line 2, column 1: lines are indented with blanks, not with tabs"},
		"indented too far":     {"- key: a\n   input: x\n", "a colon stands in a value without quotes, or the next line is indented too far"},
		"empty":                {"", "jobs.yaml: is empty; a list without a job is []"},
		"only a comment":       {"# nothing\n", "jobs.yaml: is empty"},
		"only a document mark": {"---\n", "jobs.yaml: "},
		"no list":              {"key: a\n", "line 1, column 1: must be a list of jobs, not a map"},
		"no list but a word":   {"hello", "line 1, column 1: must be a list of jobs, not a value"},
		"no job":               {"- 1\n", "line 1, column 3: must be a job, a map from column to value, not a value"},
		"no key":               {"- input: SELECT 1\n  repeat: 1 h\n", "line 1, column 3: the job has no key"},
		"an empty key":         {"- key: ''\n" + rest, "line 1, column 8: key must not be empty"},
		"a null key":           {"- key:\n" + rest, "line 1, column 7: key must be the job's name, not null"},
		"a key that is a list": {"- key: [a]\n" + rest, "line 1, column 8: key must be the job's name, not a list"},
		"a long key":           {"- key: " + strings.Repeat("k", 1025) + "\n" + rest, "line 1, column 8: key must not be longer than 1 kB"},
		"a key of a megabyte":  {"- key: " + strings.Repeat("k", 1<<20) + "\n" + rest, "line 1, column 8: key must not be longer than 1 kB"},
		"a zero byte":          {"- key: \"a\\0\"\n" + rest, "line 1, column 8: key must not contain a zero byte"},
		"no input":             {"- key: a\n  repeat: 1 h\n", "line 1, column 8: the job has neither input nor input_file"},
		"a null input":         {"- {key: a, repeat: 1 h, input: ~}\n", "line 1, column 32: input must be a text, not null"},
		"no beat":              {"- key: a\n  input: SELECT 1\n", "line 1, column 8: the job has neither cron nor repeat"},
		"null beats":           {"- {key: a, input: x, cron: null, repeat: ~}", "the job has neither cron nor repeat"},
		"both beats":           {"- key: a\n  input: x\n  cron: '* * * * *'\n  repeat: 1 h\n", "line 4, column 3: a job has cron or repeat, not both"},
		"both inputs":          {"- key: a\n  input: x\n  input_file: y\n  repeat: 1 h\n", "line 3, column 3: a job has input or input_file, not both"},
		"both inputs, turned":  {"- key: a\n  input_file: jobs.yaml\n  input: x\n  repeat: 1 h\n", "line 3, column 3: a job has input or input_file, not both"},
		"no such file":         {"- key: a\n  input_file: none.sql\n  repeat: 1 h\n", "none.sql: no such file or directory"},
		"a folder":             {"- key: a\n  input_file: .\n  repeat: 1 h\n", "is no file"},
		"no path":              {"- key: a\n  input_file: [x]\n  repeat: 1 h\n", "line 2, column 15: input_file must be the path of a file"},
		"twice a column":       {"- key: a\n  group: x\n  'group': y\n" + rest, `line 3, column 3: "group" is given twice, first on line 2`},
		"twice a key":          {"- key: a\n" + rest + "- key: 'a'\n" + rest, `line 4, column 8: the key "a" is that of another job: jobs.yaml: line 1, column 8`},
		"a key that is a map":  {"- ? {a: b}\n  : c\n", "found an invalid key for this map"},
		"an unknown alias":     {"- key: *a\n" + rest, "line 1, column 8: no anchor &a stands before it"},
		"a merge of a word":    {"- key: a\n  <<: b\n" + rest, "line 2, column 3: << takes a map, or a list of maps"},
		"long input":           {"- key: a\n  repeat: 1 h\n  input: " + strings.Repeat("x", 1<<20+1), "input has 1048577 bytes; more than 1048576 are not run (data_limit)"},
		"long data":            {"- key: a\n  data: " + strings.Repeat("x", 1<<20+1) + "\n" + rest, "data has 1048577 bytes"},
		"not utf-8":            {"- key: \xff\n", "jobs.yaml: is not UTF-8"},
		"characters count":     {"- key: a\n  data: {ä: 1, ä: 2}\n" + rest, `line 2, column 16: "ä" is given twice`},
		"deep lists":           {strings.Repeat("[", 1000) + strings.Repeat("]", 1000), "line 1, column 51: more than 50 levels of nesting"},
		"deep maps":            {strings.Repeat("{a: ", 1000) + strings.Repeat("}", 1000), "more than 50 levels of nesting"},
		"deep blocks":          {strings.Repeat("- ", 1000), "line 1, column 101: more than 50 levels of nesting"},
		"deep blocks by lines": {staircase(100), "more than 50 levels of nesting"},
		"an alias of itself":   {"- &a [*a, *a]", "with what aliases repeat"},
		"a key of itself":      {"- &a {? *a : 1}", "with what aliases repeat"},
		"laughs":               {laughs(), "with what aliases repeat"},
		"a long file":          {strings.Repeat("#", 4<<20+1), "jobs.yaml: is longer than 4194304 bytes"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			path := write(t, folder, "jobs.yaml", c.text)
			_, err := apply.Read([]string{path}, 1<<20)
			if err == nil {
				t.Fatal("there is no fault")
			}
			if got := strings.ReplaceAll(err.Error(), folder+"/", ""); !strings.Contains(got, c.want) || len(got) > 3000 {
				t.Errorf("%.3000s\nwant %s", got, c.want)
			}
		})
	}
}

func staircase(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i))
	}
	return b.String()
}

func laughs() string {
	text := "- &l0 [lol, lol]\n"
	for i := range 30 {
		text += fmt.Sprintf("- &l%d [*l%d, *l%d]\n", i+1, i, i)
	}
	return text
}

func TestFaultsOfSeveralFilesAreAllShown(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	a := write(t, folder, "a.yaml", "- {key: x, input: SELECT 1, repeat: 1 h}\n- {key: y}\n")
	b := write(t, folder, "b.json", "[{\"key\": \"z\", \"input\": \"SELECT 1\", \"repeat\": \"1 h\"},\n {\"key\": \"x\", \"input\": \"SELECT 1\", \"cron\": \"@daily\"}]")
	_, err := apply.Read([]string{a, b, folder + "/c.yaml"}, 1<<20)
	want := `a.yaml: line 2, column 9: the job has neither input nor input_file
a.yaml: line 2, column 9: the job has neither cron nor repeat
b.json: line 2, column 10: the key "x" is that of another job: a.yaml: line 1, column 9
c.yaml: no such file or directory`
	if err == nil || strings.ReplaceAll(err.Error(), folder+"/", "") != want {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{"- key: a\n  input: |\n    x\n  repeat: 1 h\n", "[{\"key\": \"\\u0000\"}]", "- &a {<<: *a}", "--- >-\n x\n...\n", "- !!str 1", "? a\n: b", "- 'a", "%YAML 1.2\n---\n[]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = apply.Read([]string{write(t, t.TempDir(), "jobs.yaml", text)}, 1<<20)
	})
}

// TestAnInputThatACommentCutsIsDoubted: but not a comment beside other columns, or in quotes.
func TestAnInputThatACommentCutsIsDoubted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"input: SELECT 1 # 2\n  repeat: 1 h":                 "jobs.yaml: line 2, column 10: input ends before the #, which begins a comment: quote it if the # belongs to it",
		"input: 'SELECT 1 # 2'\n  repeat: 1 h # often":       "",
		"input: |\n    SELECT 1 # 2\n  repeat: 1 h":          "",
		"input: SELECT 1#2\n  repeat: 1 h\n# the end":        "",
		"input: SELECT 1\n  # what follows\n  repeat: 1 h":   "",
		"input: SELECT 1\n  cron: 0 3 * * * # every night\n": "",
	} {
		jobs, err := apply.ReadText("jobs.yaml", "- key: a\n  "+text, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, doubt := range jobs[0].Doubts {
			got += doubt.Error()
		}
		if got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
