package moving_test

import (
	"strings"
	"testing"

	"pgtaskd/apply"
	"pgtaskd/human"
	"pgtaskd/moving"
)

// TestYAMLShowsAll: no text of a job is invisible or moves the cursor on a terminal, and apply
// reads the same text.
func TestYAMLShowsAll(t *testing.T) {
	t.Parallel()
	for _, hidden := range []string{"\u3164", "\u2800", "\u115f", "\ufe0f", "\u202e", "\x1b[2J", "\u034f", "\U000e0100", `a\u3164`} {
		for _, input := range []string{"SELECT '" + hidden + "'", "SELECT 1;\nSELECT '" + hidden + "'"} {
			text := moving.YAML([]moving.Job{{Key: "k" + hidden, Cron: "@daily", Input: input}})
			if strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && human.Hidden(r) }) {
				t.Errorf("%q", text)
			}
			jobs, err := apply.ReadText("x", text, 1<<20)
			if err != nil || len(jobs) != 1 {
				t.Fatal(jobs, err)
			}
			if jobs[0].Key != "k"+hidden {
				t.Errorf("%q became %q", "k"+hidden, jobs[0].Key)
			}
		}
	}
}
