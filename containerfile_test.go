package main

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestContainerfile: the image has only the static program and the certificates for TLS, and runs
// as an unprivileged user. Its Go version satisfies go.mod, and the commands in its comments work.
func TestContainerfile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	type stage struct{ from, name, program, user string }
	var stages []*stage
	var entry, command []string
	copied := map[string]string{} // into the last stage, by destination
	for line := range strings.Lines(string(text)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		var s *stage
		if len(stages) > 0 {
			s = stages[len(stages)-1]
		}
		fields := strings.Fields(rest)
		switch word {
		case "", "#", "ARG", "WORKDIR":
		case "FROM":
			s = &stage{from: fields[0]}
			if len(fields) == 3 && fields[1] == "AS" {
				s.name = fields[2]
			}
			stages = append(stages, s)
		case "RUN":
			if _, out, ok := strings.Cut(rest, " -o "); ok {
				s.program = strings.Fields(out)[0]
				if !strings.HasPrefix(rest, "CGO_ENABLED=0 go build ") || !strings.Contains(rest, "-X main.version=${VERSION}") {
					t.Error(rest)
				}
			}
		case "COPY":
			if from, ok := strings.CutPrefix(fields[0], "--from="); ok {
				to := fields[2]
				if strings.HasSuffix(to, "/") {
					to += fields[1][strings.LastIndex(fields[1], "/")+1:]
				}
				copied[to] = from + ":" + fields[1]
			}
		case "USER":
			s.user = rest
		case "ENTRYPOINT":
			err = json.Unmarshal([]byte(rest), &entry)
		case "CMD":
			err = json.Unmarshal([]byte(rest), &command)
		default:
			t.Errorf("unknown: %s", line)
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	if len(stages) != 2 || stages[1].from != "scratch" {
		t.Fatalf("%d stages, the last of which is not empty", len(stages))
	}
	build, last := stages[0], stages[1]
	if user, _, _ := strings.Cut(last.user, ":"); !isNobody(user) {
		t.Errorf("it runs as %q", last.user)
	}
	if len(entry) != 1 || copied[entry[0]] != build.name+":"+build.program {
		t.Errorf("%q is not what was built: %v", entry, copied)
	}
	if copied["/etc/ssl/certs/ca-certificates.crt"] == "" {
		t.Error("there are no certificates")
	}
	if !slices.Equal(command, []string{"run", "--config", "/etc/pgtaskd/pgtaskd.json"}) || !strings.Contains(string(text), ":"+command[2]+":ro") {
		t.Errorf("it runs %q", command)
	}
	module, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	wanted := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)
	if wanted == nil || build.from != "golang:"+string(wanted[1]) {
		t.Errorf("it is built by %s, and go.mod asks for %s", build.from, wanted)
	}
}

// isNobody reports whether user is the number of a user other than root. It must be a number:
// without /etc/passwd, names are unknown.
func isNobody(user string) bool {
	n, err := strconv.Atoi(user)
	return err == nil && n > 0
}
