package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCISaysWhatRanTwice: the CI script ends with the tests that have failed once, and the results
// of their second run.
func TestCISaysWhatRanTwice(t *testing.T) {
	t.Parallel()
	failed := "echo '--- FAIL: TestA (0.1s)'; echo '--- FAIL: TestB (0.1s)'; printf 'FAIL\\tpgtaskd/work\\t1s\\n'; exit 1"
	const once = "these tests ran twice, as they failed once:\npgtaskd/work TestA TestB: "
	for name, c := range map[string]struct {
		tests, again string // how make test and go test behave
		newest       string // how make test-matrix behaves on PostgreSQL 18
		says         string // the last line
		passes       bool
	}{
		"nothing fails":             {tests: "echo ok", again: "exit 1", says: "no test ran twice", passes: true},
		"passes when run again":     {tests: failed, again: "true", says: once + "passed when run again", passes: true},
		"fails again":               {tests: failed, again: "exit 1", says: once + "FAILED AGAIN"},
		"fails on the newest":       {tests: "echo ok", newest: failed, again: `case $PG_BINDIR in */pg18/*) ;; *) exit 1;; esac`, says: strings.Replace(once, "pg", "on PostgreSQL 18 pg", 1) + "passed when run again", passes: true},
		"is skipped":                {tests: "echo '--- SKIP: TestC (0.0s)'", again: "exit 1", says: "no test ran twice"},
		"a package cannot be built": {tests: "printf 'FAIL\\tpgtaskd/sql [build failed]\\n'; exit 1", again: "true", says: "these tests ran twice, as they failed once:\npgtaskd/sql: passed when run again", passes: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			for file, text := range map[string]string{
				".ci/run":           read(t, ".ci/run"),
				"server/install.sh": "true",
				"bin/make":          "#!/bin/sh\necho runs\ncase \"$*\" in\n*=18*) " + c.newest + ";;\n\"-k test smoke\") " + c.tests + ";;\nesac\n",
				"bin/go":            "#!/bin/sh\n" + c.again + "\n",
			} {
				path := filepath.Join(folder, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("bash", filepath.Join(folder, ".ci/run"))
			cmd.Env = append(os.Environ(), "PATH="+filepath.Join(folder, "bin")+":"+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if got := string(out); !strings.HasSuffix(got, "\n== "+c.says+"\n") || (err == nil) != c.passes {
				t.Errorf("%v: it ends\n%s", err, got)
			}
		})
	}
}
