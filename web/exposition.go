package web

import (
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"

	"pgtaskd/web/page"
	"pgtaskd/work/target"
)

// metrics answers with all metrics in Prometheus' text format.
func metrics(q *request) error {
	return page.Send(q.w, http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", q.site.targets.text())
}

func (all *targets) text() []byte {
	targets := all.list()
	figures := make([]target.Figures, len(targets))
	for i, t := range targets {
		figures[i] = t.stats.Read()
	}
	text := make([]byte, 0, 4000*len(targets)) // usually enough
	build := kind{name: "pgtaskd_build_info", help: "1.", sort: "gauge"}
	text = fmt.Appendf(build.head(text), "%s{goversion=%q,version=%q} 1\n", build.name, runtime.Version(), all.version)
	stale := kind{name: "pgtaskd_config_stale", help: "1: the configuration could not be loaded again, and the one before stays in force; 0: it is that of the file.", sort: "gauge"}
	text = fmt.Appendf(stale.head(text), "%s %v\n", stale.name, number(all.staleness() != ""))
	for _, k := range kinds {
		shown := false
		for i, t := range targets {
			for _, s := range k.of(&figures[i]) {
				if !shown {
					text, shown = k.head(text), true
				}
				text = s.line(text, k.name, t.label)
			}
		}
	}
	return text
}

// head adds the lines above the samples of a kind.
func (k *kind) head(text []byte) []byte {
	return fmt.Appendf(text, "# HELP %s %s\n# TYPE %s %s\n", k.name, k.help, k.name, k.sort)
}

// line adds one sample of a target.
func (s *sample) line(text []byte, name, target string) []byte {
	text = append(append(append(append(text, name...), s.suffix...), '{'), target...)
	if s.label != "" {
		text = append(append(text, ','), s.label...)
	}
	text = strconv.AppendFloat(append(text, "} "...), s.value, 'g', -1, 64)
	return append(text, '\n')
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// label writes a label of a sample.
func label(name, value string) string {
	return name + `="` + escapes.Replace(value) + `"`
}
