package conf

import "testing"

// TestWhatIsNoJSONIsSaidInOurWords: with what to do.
func TestWhatIsNoJSONIsSaidInOurWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                      `line 1, column 1: the file is empty; without targets it is {"targets": []}`,
		" \n":                                   `line 1, column 2: the file is empty; without targets it is {"targets": []}`,
		`{"targets": [{"data": "a"}, ]}`:        "line 1, column 29: a comma stands before ]: delete it",
		"{\"targets\": [{\"data\": \"a\",\n}]}": "line 2, column 1: a comma stands before }: delete it",
		"{\"dsn\": \"\", // here\n}":            "line 1, column 13: JSON has no comments: delete this one",
		"# here\n{}":                            "line 1, column 1: JSON has no comments: delete this one",
		"/* here */ {}":                         "line 1, column 1: JSON has no comments: delete this one",
		"targets:\n- data: a":                   "line 1, column 2: a configuration is JSON: it begins with { or [",
		"dsn=x":                                 "line 1, column 1: a configuration is JSON: it begins with { or [",
		`{'targets': []}`:                       `line 1, column 2: texts stand in double quotes: "…"`,
		`{“targets”: []}`:                       `line 1, column 2: texts stand in straight double quotes: "…"`,
		`{targets: []}`:                         `line 1, column 2: a key stands in double quotes: "targets"`,
		`{"targets" []}`:                        "line 1, column 12: after a key there must be a colon",
		`{"targets": [{} {}]}`:                  "line 1, column 17: before this there must be a comma, or ]",
		`{"dsn": "" "targets": []}`:             "line 1, column 12: before this there must be a comma, or }",
		`{"dsn": ""; "targets": []}`:            "line 1, column 11: there must be a comma in place of ;",
		`{"targets": [{"create": True}]}`:       "line 1, column 25: a text stands in double quotes; true, false and null do not, and have small letters",
		`{"targets": [{"data": shop}]}`:         "line 1, column 23: a text stands in double quotes; true, false and null do not, and have small letters",
		`{"targets": [{"data": "a}]}`:           `line 1, column 27: the file ends too early: a }, ] or " is missing`,
		"{\"targets\": [{\"data\": \"a\n\"}]}":  "line 1, column 25: a text has no line breaks or tabs; it ends with a double quote",
		`{"dsn": "C:\pg"}`:                      `line 1, column 13: a backslash in a text is written twice: \\`,
		`{"targets": []}}`:                      "line 1, column 16: the configuration has ended before this: delete the rest",
	} {
		_, err := Parse([]byte(text))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
