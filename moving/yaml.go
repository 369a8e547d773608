package moving

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"pgtaskd/human"
)

// YAML writes jobs as pgtaskd apply reads them. Other schedulers run different jobs in parallel:
// each has a group of its own, unless it names one.
func YAML(jobs []Job) string {
	if len(jobs) == 0 {
		return "[]\n"
	}
	var b strings.Builder
	for _, job := range jobs {
		fmt.Fprintf(&b, "- key: %s\n  group: %s\n", quoted(job.Key), quoted(cmp.Or(job.Group, job.Key)))
		line := func(column, value string) {
			if value != "" {
				fmt.Fprintf(&b, "  %s: %s\n", column, value)
			}
		}
		text := func(column, value string) {
			if value != "" {
				line(column, block(value))
			}
		}
		text("cron", job.Cron)
		text("repeat", job.Repeat)
		if job.Drift {
			line("drift", "true")
		}
		text("timeout", job.Timeout)
		text("active", job.Active)
		line("plan", job.Plan)
		line("until", job.Until)
		text("remote", job.Remote)
		text("on_fail", job.OnFail)
		line("input", block(job.Input))
	}
	return b.String()
}

// block writes a text of several lines as a readable block, if YAML and a terminal keep it as it
// is; else in quotes.
func block(text string) string {
	plain := strings.Contains(text, "\n") && !strings.ContainsAny(text[:1], " \n") && !strings.HasSuffix(text, "\n")
	for line := range strings.SplitSeq(text, "\n") {
		plain = plain && strings.TrimRight(line, " ") == line &&
			strings.IndexFunc(line, human.Hidden) < 0
	}
	if !plain {
		return quoted(text)
	}
	return "|-\n    " + strings.ReplaceAll(strings.ReplaceAll(text, "\n", "\n    "), "\n    \n", "\n\n")
}

// quoted writes a text in YAML's quotes, with hidden characters as escapes.
func quoted(text string) string { return human.Visible(strconv.Quote(text)) }
