package remote

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestParse(t *testing.T) {
	t.Parallel()
	cases := []struct {
		input string
		want  Settings
	}{
		{"", Settings{}},
		{" \t\n ", Settings{}},
		{"host=a", Settings{"host": "a"}},
		{"host = a port\n=\t5433 ", Settings{"host": "a", "port": "5433"}},
		{"host=a,b port=1,2", Settings{"host": "a,b", "port": "1,2"}},
		{`password='x y'`, Settings{"password": "x y"}},
		{`password='it\'s \\ \x'`, Settings{"password": `it's \ x`}},
		{`password=it\'s\ one\\ user=u`, Settings{"password": `it's one\`, "user": "u"}},
		{`password=a'b`, Settings{"password": "a'b"}},
		{`password=x=y`, Settings{"password": "x=y"}},
		{`dbname=a\`, Settings{"dbname": "a"}},
		{`host='a'port='1'`, Settings{"host": "a", "port": "1"}},
		{"host= port=1", Settings{"host": "port=1"}}, // libpq skips blanks before a value
		{"host=''", Settings{"host": ""}},
		{"host=", Settings{"host": ""}},
		{"host=a host=b", Settings{"host": "b"}},
		{"options='-c a=b -c c=d'", Settings{"options": "-c a=b -c c=d"}},
		{"host=ä dbname=日本", Settings{"host": "ä", "dbname": "日本"}},

		{"postgres://", Settings{}},
		{"postgresql://", Settings{}},
		{"postgresql:///", Settings{}},
		{"postgresql:///db", Settings{"dbname": "db"}},
		{"postgresql://h", Settings{"host": "h"}},
		{"postgresql://h/", Settings{"host": "h"}},
		{"postgresql://h:5433", Settings{"host": "h", "port": "5433"}},
		{"postgresql://h:", Settings{"host": "h"}},
		{"postgresql://:5433", Settings{"port": "5433"}},
		{"postgresql://u@h/db", Settings{"user": "u", "host": "h", "dbname": "db"}},
		{"postgresql://u:p@h/db", Settings{"user": "u", "password": "p", "host": "h", "dbname": "db"}},
		{"postgresql://:p@h", Settings{"password": "p", "host": "h"}},
		{"postgresql://u:@h", Settings{"user": "u", "host": "h"}},
		{"postgresql://u:a:b@h", Settings{"user": "u", "password": "a:b", "host": "h"}},
		{"postgresql://@", Settings{}},
		{"postgresql://u:p%40%2F%3a%25+@h", Settings{"user": "u", "password": "p@/:%+", "host": "h"}},
		{"postgresql://h1:1,h2:2/db", Settings{"host": "h1,h2", "port": "1,2", "dbname": "db"}},
		{"postgresql://h1,h2:2", Settings{"host": "h1,h2", "port": ",2"}},
		{"postgresql://h1,/db", Settings{"host": "h1,", "port": ",", "dbname": "db"}},
		{"postgresql://[::1]:5433/db", Settings{"host": "::1", "port": "5433", "dbname": "db"}},
		{"postgresql://[::1],[::2]", Settings{"host": "::1,::2", "port": ","}},
		{"postgresql://%2Frun%2Fpostgresql/db", Settings{"host": "/run/postgresql", "dbname": "db"}},
		{"postgresql:///db?host=/run/postgresql", Settings{"host": "/run/postgresql", "dbname": "db"}},
		{"postgresql://h?user=u&password=p%26", Settings{"host": "h", "user": "u", "password": "p&"}},
		{"postgresql://a?host=b", Settings{"host": "b"}},
		{"postgresql://h/a/b", Settings{"host": "h", "dbname": "a/b"}},
		{"postgresql://h/?ssl=true", Settings{"host": "h", "sslmode": "require"}},
		{"postgresql://h/?", Settings{"host": "h"}},
		{"postgresql://h/?user=u&", Settings{"host": "h", "user": "u"}},
		{"postgresql://h/?user=", Settings{"host": "h", "user": ""}},
		{"postgresql:// h ", Settings{"host": "h"}},
	}
	for _, c := range cases {
		got, err := Parse(c.input)
		if err != nil || !maps.Equal(got, c.want) {
			t.Errorf("Parse(%q) = %v, %v, want %v", c.input, map[string]string(got), err, map[string]string(c.want))
		}
		again, err := Parse(got.String())
		if err != nil || !maps.Equal(again, got) {
			t.Errorf("Parse(%q) does not give back %v: %v", got.String(), map[string]string(got), err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	const pairs = `invalid connection string: it should consist of keyword=value pairs, or be a URI that begins with postgres://`
	const encoding = "invalid connection string: a part of the URI has an invalid percent-encoding"
	const at = `invalid connection string: an "@" in the URI is not where the password ends`
	const query = "invalid connection string: a parameter of the URI is not of the form keyword=value"
	const port = "invalid connection string: a port is a number between 1 and 65535"
	cases := []struct{ input, message, hint string }{
		{"hots=a", `invalid connection string: unknown keyword "hots"`, `Perhaps you meant "host".`},
		{"database=a", `invalid connection string: unknown keyword "database"`, ""},
		{"sslmod=a", `invalid connection string: unknown keyword "sslmod"`, `Perhaps you meant "sslmode".`},
		{"postgres://h?sslmod=a", `invalid connection string: unknown keyword "sslmod"`, `Perhaps you meant "sslmode".`},
		{"host a", `invalid connection string: missing "=" after "host"`, ""},
		{"nonsense", pairs, ""},
		{"http://u:p@h", pairs, ""},
		{"=a", pairs, ""},
		{"Host=a", pairs, ""},
		{"host='a", "invalid connection string: a quoted value has no closing quote", ""},
		{`host='a\`, "invalid connection string: a quoted value has no closing quote", ""},
		{"host=a\x00", "invalid connection string: it contains a zero byte", ""},
		{"port=0", port, ""},
		{"port=65536", port, ""},
		{"port=1,x", port, ""},
		{"postgres://h:+1", port, ""},
		{"postgres://[::1", `invalid connection string: the URI has no "]" after an IPv6 address`, ""},
		{"postgres://[]", "invalid connection string: an IPv6 address in the URI is empty", ""},
		{"postgres://[::1]x", `invalid connection string: ":" or "/" is expected after the IPv6 address in the URI`, ""},
		{"postgres://h?a", query, ""},
		{"postgres://h?user=a=b", query, ""},
		{"postgres://h?&", query, ""},
		{"postgres://%zz", encoding, "*"},
		{"postgres://u:%@h", encoding, "*"},
		{"postgres://%00", encoding, "*"},
		{"postgres://a b", encoding, "*"},
		{"postgres://u:p@ss@h", at, "*"},
		{"postgres://u:1/2@h", at, "*"},
		{"postgres://h?password=a@b", at, "*"},
	}
	for _, c := range cases {
		settings, err := Parse(c.input)
		var refused *Refused
		if !errors.As(err, &refused) || settings != nil {
			t.Errorf("Parse(%q) = %v, %v", c.input, settings, err)
			continue
		}
		if refused.Message != c.message || c.hint != "*" && refused.Hint != c.hint || refused.SQLState == "" {
			t.Errorf("Parse(%q): %q, hint %q, %s", c.input, refused.Message, refused.Hint, refused.SQLState)
		}
	}
}

// TestErrorsHideSecrets: no error shows the password, whatever is wrong with the string.
func TestErrorsHideSecrets(t *testing.T) {
	t.Parallel()
	const secret = "hunter"
	corpus := []string{
		"password=hunter hunter=1", "password=hunter hunter", "password=a hunter hunter", "password=a hunter=x",
		"password=hunter port=hunter", "password='hunter", "password='hunter' hots=a", "password='a' 'hunter'=a",
		`password=a\ hunter b`, "password=hunter=hunter x", "sslpassword=a hunter", "hunter", " hunter ", "PASSWORD=hunter",
		"pass word=hunter", "pasword=hunter", "password hunter", "password:hunter", "password=hunter\x00", "port=hunter",
		"postgres://u:hunter@h:hunter", "postgres://u:hunter", "postgres://u:1/hunter@h", "postgres://u:1@hunter@h",
		"postgres://u:hunter%@h", "postgres://u:hunter%zz@h", "postgres://u:hunter%00@h", "postgres://u:hunter @ h x",
		"postgres://h?password=hunter@h", "postgres://h?password=a&hunter=b", "postgres://h?password=a&hunter",
		"postgres://h?password=hunter=a", "postgres://h?password=a=hunter", "postgres://h?password=%hunter",
		"postgres://u:p@[hunter", "postgres://u:p@[::1]hunter", "postgres://u:a?hunter",
		"postgres://u:a?hunter=1", "postgres:/u:hunter@h", "Postgres://u:hunter@h", "mysql://u:hunter@h/?a=b",
		"postgres://h/db?pasword=hunter", "postgres://h/db?hunter%3D=a", "postgres://u:a/hunter@h",
	}
	for _, input := range corpus {
		_, err := Parse(input)
		if err == nil {
			t.Errorf("Parse(%q) is accepted", input)
			continue
		}
		if shown := fmt.Sprintf("%v %+v %#v", err, err, reflect.Indirect(reflect.ValueOf(err))); strings.Contains(shown, secret) {
			t.Errorf("Parse(%q): %s", input, shown)
		}
	}
}

// FuzzParse: Parse never panics, String returns what Parse has read, and pgconn reads the same from
// both.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "host=a port=1 user=u password='it\\'s' dbname=d", "postgres://u:p@h1:1,h2:2/db?sslmode=disable&application_name=x",
		"postgresql://[::1]:5433/a%20b", `host = a\ b`, "postgres://%2Frun/db?user=a&user=b", "postgres://u@/?host=/tmp",
		"hostaddr=127.0.0.1 ssl=true", "postgres:// a:b @ c /d ", "host=a,,b port=1,,2", "a==b", "user=",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		settings, err := Parse(input)
		if err != nil {
			return
		}
		again, err := Parse(settings.String())
		if err != nil || !maps.Equal(settings, again) {
			t.Fatalf("%q becomes %q, which reads %v, %v", input, settings.String(), map[string]string(again), err)
		}

		for _, keyword := range []string{"service", "servicefile", "sslcert", "sslkey", "sslrootcert"} {
			if _, ok := settings[keyword]; ok {
				return // it may name files
			}
		}
		if user, ok := settings["user"]; ok && user == "" {
			return // pgconn reads an empty user differently from pairs and from a URI
		}
		theirs, err := pgconn.ParseConfig(input)
		if err != nil {
			return
		}
		ours, err := pgconn.ParseConfig(settings.String())
		if err != nil {
			t.Fatalf("%q: pgconn reads it, but not %q: %v", input, settings.String(), err)
		}
		if ours.Host != theirs.Host || ours.Port != theirs.Port || ours.User != theirs.User ||
			ours.Database != theirs.Database || ours.Password != theirs.Password || len(ours.Fallbacks) != len(theirs.Fallbacks) {
			t.Fatalf("%q: pgconn reads %v, and %v from %q", input, theirs, ours, settings.String())
		}
	})
}

// TestRemotesAreShownWithoutPasswords: names of the configuration stay as they are.
func TestRemotesAreShownWithoutPasswords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"shop":                            "shop",
		"host=a password=geheim dbname=b": "host=a dbname=b",
		"postgres://u:geheim@a/b":         "host=a dbname=b user=u",
	} {
		if got := Shown(text); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	if text := Shown("host=a password='geheim"); text == "" || strings.Contains(text, "geheim") {
		t.Error(text)
	}
}
