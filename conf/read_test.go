package conf

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgtaskd/work"
)

var update = flag.Bool("update", false, "write what is found into testdata/conf")

// TestGood compares the result of each good configuration.
func TestGood(t *testing.T) {
	clearEnvironment(t)
	eachCase(t, "good", func(t *testing.T, path string) string {
		file, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		return describe(file)
	})
}

// TestBad compares the faults of each bad configuration.
func TestBad(t *testing.T) {
	clearEnvironment(t)
	eachCase(t, "bad", func(t *testing.T, path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Parse(text)
		var faults Faults
		var fault Fault
		if !errors.As(err, &faults) || !errors.As(err, &fault) {
			t.Fatalf("error is %#v, not Faults", err)
		}
		if strings.Contains(strings.ReplaceAll(err.Error(), `remotes.secret`, ""), "secret") {
			t.Errorf("a secret is shown:\n%v", err)
		}
		return err.Error() + "\n"
	})
}

// eachCase compares the result for each JSON file of a folder with the text file beside it.
func eachCase(t *testing.T, folder string, result func(t *testing.T, path string) string) {
	paths, err := filepath.Glob(filepath.Join("../testdata/conf", folder, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases in %s: %v", folder, err)
	}
	for _, path := range paths {
		beside := strings.TrimSuffix(path, ".json") + ".txt"
		t.Run(filepath.Base(path), func(t *testing.T) {
			got := result(t, path)
			if *update {
				if err := os.WriteFile(beside, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(beside)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// describe writes a configuration for people, with its secrets.
func describe(file *File) string {
	var b strings.Builder
	fmt.Fprintf(&b, "log level: %v\n", file.Log.Level)
	if file.Log.Format != "" || file.Log.Tasks != "fail" {
		fmt.Fprintf(&b, "log format: %s, tasks: %s\n", file.Log.Format, file.Log.Tasks)
	}
	if file.HTTP.Listen != "" {
		fmt.Fprintf(&b, "listens on: %s\n", file.HTTP.Listen)
	}
	if h := file.HTTP; len(h.Users) > 0 {
		fmt.Fprintf(&b, "prefix %q, hosts %q, certificate %q, key %q, hides %q\n", h.Prefix, h.Hosts, h.Cert, h.Key, h.Hide)
		for _, u := range h.Users {
			fmt.Fprintf(&b, "user %q, token in %q, operator: %t\n", u.Name, u.file, u.Operator)
		}
	}
	for _, t := range file.Targets {
		fmt.Fprintf(&b, "\n%s\n", t.Name())
		fmt.Fprintf(&b, "    connects with: %s\n", t.Connect.String())
		fmt.Fprintf(&b, "    creates with: %s\n", cmp.Or(t.Admin.String(), "(nothing given)"))
		fmt.Fprintf(&b, "    sleep %v, grace %v, idle %v, reset %v, run %d\n", t.Sleep, t.Grace, t.Idle, t.Reset, t.Run)
		fmt.Fprintf(&b, "    output limit %d, fail %v, data limit %d, create %v, wake %s\n", t.OutputLimit, t.OutputFail, t.DataLimit, t.Create, t.Wake)
		if t.Inserter {
			fmt.Fprintf(&b, "    tasks run as who inserted them; any role: %v\n", t.Roles == nil)
		}
		if len(t.Trust) > 0 {
			fmt.Fprintf(&b, "    trusts: %q\n", t.Trust)
		}
		for _, role := range slices.Sorted(maps.Keys(t.Roles)) {
			fmt.Fprintf(&b, "    role %s: %+v\n", role, t.Roles[role])
		}
		for _, state := range slices.Sorted(maps.Keys(t.Keep)) {
			fmt.Fprintf(&b, "    keeps %s for %+v\n", state, t.Keep[state])
		}
		for _, column := range slices.Sorted(maps.Keys(t.Defaults)) {
			fmt.Fprintf(&b, "    default of %s: %q\n", column, t.Defaults[column])
		}
		for _, name := range slices.Sorted(maps.Keys(t.Remotes)) {
			fmt.Fprintf(&b, "    remote %s: %s\n", name, t.Remotes[name])
		}
	}
	return b.String()
}

// clearEnvironment makes a test independent of the environment of its caller.
func clearEnvironment(t *testing.T) {
	for _, name := range []string{"PGHOST", "PGHOSTADDR", "PGPORT", "PGUSER", "PGDATABASE", "PGSERVICE", "PGPASSWORD"} {
		t.Setenv(name, "")
	}
}

func TestReadOfNoFile(t *testing.T) {
	if _, err := Read(filepath.Join(t.TempDir(), "none.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error is %v, not that the file is missing", err)
	}
}

// TestIdentityKnowsTheEnvironment: without a host, PGHOST counts.
func TestIdentityKnowsTheEnvironment(t *testing.T) {
	clearEnvironment(t)
	text := []byte(`[{"data": "shop", "dsn": "host=a port=6432"}, {"data": "shop"}]`)
	if _, err := Parse(text); err != nil {
		t.Errorf("without PGHOST: %v", err)
	}
	t.Setenv("PGHOST", "a")
	t.Setenv("PGPORT", "6432")
	if _, err := Parse(text); err == nil {
		t.Error("with PGHOST the two are one table, and nothing was said")
	}
}

// TestPassword: only the role that a password belongs to gets it.
func TestPassword(t *testing.T) {
	for _, c := range []struct{ dsn, target, want string }{
		{"user=a password=p", `"user": "a"`, "p"},
		{"user=a password=p", `"user": "b"`, ""},
		{"password=p", `"user": "b"`, "p"},
		{"user=a password=p", `"user": "b", "dsn": "user=b password=q"`, "q"},
	} {
		file, err := Parse(fmt.Appendf(nil, `{"dsn": %q, "targets": [{%s}]}`, c.dsn, c.target))
		if err != nil {
			t.Fatal(err)
		}
		if got := file.Targets[0].Connect["password"]; got != c.want {
			t.Errorf("dsn %q, target %s: password is %q, not %q", c.dsn, c.target, got, c.want)
		}
	}
}

func TestSingle(t *testing.T) {
	clearEnvironment(t)
	for _, c := range []struct{ dsn, want string }{
		{"host=h user=u dbname=d password=p", "d/public/task"},
		{"postgres://u@h", "u/public/task"},
	} {
		target, err := Single(c.dsn)
		if err != nil {
			t.Fatal(err)
		}
		if target.Name() != c.want || target.Connect["user"] != "u" || target.Run != 32 {
			t.Errorf("%s: got %+v", c.dsn, target)
		}
	}
	if target, err := Single("shop"); err != nil || target.Connect["dbname"] != "shop" {
		t.Errorf("the name of a database: %v, %v", target.Connect, err)
	}
	if _, err := Single("pgtaskd.json"); err == nil || !strings.Contains(err.Error(), "--config pgtaskd.json") {
		t.Errorf("a configuration: %v", err)
	}
	if _, err := Single("host port=1"); err == nil {
		t.Error("no error for a string that does not parse")
	}
}

func FuzzParse(f *testing.F) {
	for _, folder := range []string{"good", "bad"} {
		paths, err := filepath.Glob(filepath.Join("../testdata/conf", folder, "*.json"))
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(data)
		if err != nil {
			checkFaults(t, data, err)
			return
		}
		again, err := Parse(data)
		if err != nil || !reflect.DeepEqual(file, again) {
			t.Errorf("read twice, it is not the same (%v)", err)
		}
		seen := map[string]bool{}
		for _, target := range file.Targets {
			checkTarget(t, target)
			if seen[identity(target)] {
				t.Errorf("%s is there twice", target.Name())
			}
			seen[identity(target)] = true
		}
	})
}

// checkFaults checks that there are faults, each on one line and at a place inside the text.
func checkFaults(t *testing.T, data []byte, err error) {
	var faults Faults
	if !errors.As(err, &faults) || len(faults) == 0 {
		t.Fatalf("error is %#v, not Faults", err)
	}
	lines := strings.Split(string(data), "\n")
	for _, fault := range faults {
		if strings.ContainsAny(fault.Error(), "\n\r") {
			t.Errorf("fault has more than one line: %q", fault.Error())
		}
		if fault.Line < 1 || fault.Line > len(lines) || fault.Column < 1 || fault.Column > len(lines[fault.Line-1])+1 {
			t.Errorf("fault is outside the text: %v", fault)
		}
	}
}

func checkTarget(t *testing.T, target work.Target) {
	if target.Connect["user"] == "" || target.Connect["dbname"] == "" || target.Schema == "" || target.Table == "" {
		t.Errorf("target lacks a name: %+v", target)
	}
	if target.Sleep < time.Millisecond || target.Reset < time.Millisecond || target.Run < 1 ||
		target.Grace < 0 || target.Idle < 0 || target.OutputLimit < 0 {
		t.Errorf("target has a number out of range: %+v", target)
	}
}

// TestManyFaultsTakeNoTime: only the first faults of a file are looked up in its text.
func TestManyFaultsTakeNoTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ unit, last string }{
		"a fault each": {"1,", "line 1, column 200: targets[99]: must be an object, not a number"},
		"one key":      {`{"data": "a", "data": "a"},`, ""},
	} {
		var faults Faults
		_, err := Parse([]byte("[" + strings.Repeat(c.unit, 26_000) + "1]"))
		if !errors.As(err, &faults) || len(faults) > mostFaults || c.last != "" && faults[len(faults)-1].Error() != c.last {
			t.Errorf("%s: %d faults, the last %v", name, len(faults), faults[len(faults)-1])
		}
	}
}
