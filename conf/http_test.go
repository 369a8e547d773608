package conf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pgtaskd/work"
)

const twoUsers = `{"http": {"listen": "127.0.0.1:1", "users": [
	{"name": "ann", "token_file": "DIR/ann", "role": "operator"},
	{"name": "bob", "token_file": "DIR/bob", "role": "reader"}]}, "targets": []}`

// TestFilesOfTheServerAreChecked: by their place and path, without what is in them. Commands that
// serve nothing do not need the files.
func TestFilesOfTheServerAreChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ ann, bob, want string }{
		"line":      {"secret-a", "secret-b\n", ""},
		"Windows":   {"secret-a\r\n", "secret-b", ""},
		"spaces":    {"secret a", "secret b", ""},
		"none":      {"", "secret-b", "line 2, column 32: http.users[0].token_file: open DIR/ann: no such file or directory"},
		"empty":     {"\n", "secret-b", "http.users[0].token_file: DIR/ann is empty"},
		"two lines": {"secret-a\nx\n", "secret-b", "http.users[0].token_file: DIR/ann must have one line"},
		"around":    {"secret-a ", "secret-b", "http.users[0].token_file: DIR/ann must have one line, the token, without spaces around it"},
		"same":      {"secret-a", "secret-a\n", `line 3, column 32: http.users[1].token_file: DIR/bob has the same token as the user "ann"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range map[string]string{"ann": c.ann, "bob": c.bob} {
				if text != "" {
					put(t, dir, name, text)
				}
			}
			f, err := Read(file(t, strings.ReplaceAll(twoUsers, "DIR", dir)))
			if err != nil {
				t.Fatal(err)
			}
			err = f.Servable()
			if c.want == "" {
				if trimmed := strings.TrimRight(c.ann, "\r\n"); err != nil || f.HTTP.Users[0].Token != trimmed || !f.HTTP.Users[0].Operator || f.HTTP.Users[1].Operator {
					t.Errorf("%v %+v", err, f.HTTP)
				}
			} else if err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(c.want, "DIR", dir)) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v", err)
			}
		})
	}
	for _, key := range []string{"nowhere", "/dev/null"} {
		path := file(t, `{"http": {"listen": "127.0.0.1:1", "cert": "nowhere", "key": "`+key+`"}, "targets": []}`)
		err := Run(t.Context(), path, zerolog.Nop(), Options{})
		if err == nil || !strings.Contains(err.Error(), path+": line 1, column 44: http.cert: open nowhere") {
			t.Errorf("run: %v", err)
		}
	}
}

// TestATokenIsReadAgain: when its file changes. While a file is missing, the settings before stay.
func TestATokenIsReadAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "ann", "first")
	put(t, dir, "bob", "other")
	w := &watched{make(chan HTTP, 100), make(chan []work.Target, 100), "", make(chan string, 100)}
	s := open(t, file(t, strings.ReplaceAll(twoUsers, "DIR", dir)), w)
	if h := await(t, w.addresses, "the settings"); h.Users[0].Token != "first" {
		t.Errorf("%v", h)
	}
	if err := os.Remove(filepath.Join(dir, "ann")); err != nil {
		t.Fatal(err)
	}
	s.says("invalid configuration: " + s.path + ": line 2, column 32: http.users[0].token_file: ")
	s.says("keeping the previous configuration")
	put(t, dir, "ann", "second")
	s.says("configuration loaded")
	if h := await(t, w.addresses, "the settings"); h.Users[0].Token != "second" || len(w.addresses) > 0 {
		t.Errorf("%v", h)
	}
}

// TestAnAddressOfOthersNeedsUsers: else the page is not served there.
func TestAnAddressOfOthersNeedsUsers(t *testing.T) {
	t.Parallel()
	ann := []User{{Name: "ann"}}
	for address, closed := range map[string]bool{"127.0.0.1:1": false, "127.9.9.9:1": false, "[::1]:1": false, "localhost:1": false, "": false, "0.0.0.0:1": true, ":1": true, "[::]:1": true, "192.0.2.1:1": true} {
		if why := (HTTP{Listen: address}).Closed(); (why != "") != closed || closed && !strings.Contains(why, `"users"`) {
			t.Errorf("%s: %q", address, why)
		}
		if why := (HTTP{Listen: address, Users: ann}).Closed(); why != "" {
			t.Errorf("%s with users: %q", address, why)
		}
	}
}
