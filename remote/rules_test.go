package remote

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var base = Settings{
	"host": "own", "port": "5433", "user": "owner", "dbname": "data", "password": "hunter", "sslmode": "disable",
	"application_name": "x", "options": "-c a=b", "target_session_attrs": "primary", "connect_timeout": "3",
}

func TestResolve(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, remote string
		superuser    bool
		want         string // user:password@host:port/database
	}{
		{"all inherited", "", true, "owner:hunter@own:5433/data"},
		{"another database", "dbname=d", true, "owner:hunter@own:5433/d"},
		{"empty is left out", "host='' port='' dbname=d", true, "owner:hunter@own:5433/d"},
		{"URI without a host", "postgres:///d", true, "owner:hunter@own:5433/d"},
		{"another host, no password", "host=h", true, "owner:@h:5433/data"},
		{"the same host, by name", "host=own", true, "owner:@own:5433/data"},
		{"another port, no password", "port=1", true, "owner:@own:1/data"},
		{"another address, no password", "hostaddr=127.0.0.1", true, "owner:@127.0.0.1:5433/data"},
		{"a password of its own", "host=h password=p", true, "owner:p@h:5433/data"},
		{"several hosts", "postgres://h1:1,h2:2/d", true, "owner:@h1:1/d"},
		{"no superuser", "host=h user=u password=p", false, "u:p@h:5433/data"},
		{"no superuser, same server", "password=p", false, "owner:p@own:5433/data"},
		{"socket", "host=/run password=p", false, "owner:p@/run:5433/data"},
		{"system's certificates", "host=h password=p sslrootcert=system", false, "owner:p@h:5433/data"},
	}
	for _, c := range cases {
		d, err := Rules{Base: base, Superuser: c.superuser}.Resolve(c.remote)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		cfg := d.config
		if got := fmt.Sprintf("%s:%s@%s:%d/%s", cfg.User, cfg.Password, cfg.Host, cfg.Port, cfg.Database); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if len(cfg.RuntimeParams) > 0 {
			t.Errorf("%s: inherits %v", c.name, cfg.RuntimeParams)
		}
		if strings.Contains(fmt.Sprint(d.Name, d.Key), "hunter") {
			t.Errorf("%s: %s, %s", c.name, d.Name, d.Key)
		}
	}
}

func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	const notAllowed = `" is not allowed in remote`
	cases := []struct {
		remote, message, state string
		superuser              bool
	}{
		{"", "password is required", statePassword, false},
		{"host=h", "password is required", statePassword, false},
		{"password=''", "password is required", statePassword, false},
		{"postgres://u:@h", "password is required", statePassword, false},
		{"warehouse", "remote is neither a connection string nor the name of one in the configuration", stateSyntax, false},
		{"warehouse ", "remote is neither a connection string nor the name of one in the configuration", stateSyntax, true},
		{"hots=h", `invalid connection string: unknown keyword "hots"`, stateSyntax, true},
		{"host=h sslmode=x", `invalid connection string: the value of "sslmode" can't be used`, stateValue, true},
		{"requirepeer=x", `"requirepeer" is not supported in a connection string`, stateUnable, true},
	}
	for _, keyword := range slices.Concat(files, starting) {
		for _, superuser := range []bool{true, false} {
			cases = append(cases, struct {
				remote, message, state string
				superuser              bool
			}{"password=p " + keyword + "=/x", `"` + keyword + notAllowed, stateNotAllowed, superuser})
		}
	}
	for _, c := range cases {
		_, err := Rules{Base: base, Superuser: c.superuser}.Resolve(c.remote)
		var refused *Refused
		if !errors.As(err, &refused) {
			t.Errorf("%q: %v", c.remote, err)
			continue
		}
		if refused.Message != c.message || refused.SQLState != c.state {
			t.Errorf("%q: %s, %s", c.remote, refused.SQLState, refused.Message)
		}
	}
}

// TestATaskTakesNoProtectionFromThePassword: the protection of the target's own connection holds
// wherever its password goes.
func TestATaskTakesNoProtectionFromThePassword(t *testing.T) {
	t.Parallel()
	safe := base.With(Settings{"sslmode": "verify-full", "sslrootcert": "system", "channel_binding": "require", "require_auth": "scram-sha-256", "ssl_min_protocol_version": "TLSv1.3"})
	for _, c := range []struct {
		base    Settings
		remote  string
		refused string
	}{
		{safe, "dbname=d", ""},
		{safe, "sslmode=verify-full channel_binding=require", ""},
		{safe, "sslmode=disable", "sslmode"},
		{safe, "sslmode=require", "sslmode"},
		{safe, "postgres:///d?sslmode=prefer", "sslmode"},
		{safe, "channel_binding=disable", "channel_binding"},
		{safe, "require_auth=password", "require_auth"},
		{safe, "require_auth=password password=''", "require_auth"},
		{safe, "ssl_min_protocol_version=TLSv1", "ssl_min_protocol_version"},
		{safe, "sslmode=disable password=p", ""},
		{safe, "sslmode=disable host=h", ""},
		{base, "sslmode=require", ""},
		{base.With(Settings{"sslmode": ""}), "sslmode=require channel_binding=require", ""},
		{base.With(Settings{"sslmode": "require"}), "sslmode=prefer", "sslmode"},
		{base.With(Settings{"sslmode": "require"}), "sslmode=verify-full", ""},
	} {
		_, err := Rules{Base: c.base, Superuser: true}.Resolve(c.remote)
		var refused *Refused
		switch {
		case c.refused == "" && err != nil:
			t.Errorf("%s: %v", c.remote, err)
		case c.refused != "" && (!errors.As(err, &refused) || refused.Message != `"`+c.refused+`" is not allowed in remote` || refused.SQLState != stateNotAllowed):
			t.Errorf("%s: %v", c.remote, err)
		}
	}
}

// TestControlCharactersAreRefused: values are sent before the server has proved to be PostgreSQL,
// and another kind could read lines in them.
func TestControlCharactersAreRefused(t *testing.T) {
	t.Parallel()
	rules := Rules{Base: base, Superuser: true, Named: map[string]string{"theirs": "host=h user='a\nb'"}}
	for _, sign := range []string{"\r\n", "\n", "\x01", "\t", "\x7f"} {
		for _, keyword := range keywords {
			if slices.Contains(files, keyword) || slices.Contains(starting, keyword) {
				continue
			}
			_, err := rules.Resolve("password=x host=h " + keyword + "='a" + sign + "b'")
			var refused *Refused
			if !errors.As(err, &refused) || refused.SQLState == stateUnable {
				t.Errorf("%s with %q: %v", keyword, sign, err)
				continue
			}
			if strings.Contains(refused.Message+refused.Detail+refused.Hint, sign) {
				t.Errorf("%s shows the value: %q", keyword, refused.Message)
			}
		}
		if _, err := (Rules{Base: base.As("a"+sign+"b", "")}).Resolve("host=h password=x"); err == nil {
			t.Errorf("the name of the task's role with %q", sign)
		}
	}
	for _, uri := range []string{"postgres://u:x@h/d?application_name=a%0d%0ab", "postgres://u%0a:x@h/d", "postgres://u:x@h/d%0a", "postgres://u:x%0a@h/d"} {
		if _, err := rules.Resolve(uri); err == nil {
			t.Error(uri)
		}
	}
	for _, fine := range []string{"host=h\n\tpassword=x\r\n", "host=h user=é password=x", "theirs", "dbname=d"} {
		if _, err := rules.Resolve(fine); err != nil {
			t.Errorf("%q: %v", fine, err)
		}
	}
}

func TestInherit(t *testing.T) {
	t.Parallel()
	rules := Rules{Base: base.With(Settings{
		"port": "1,2", "host": "a,b", "hostaddr": "10.0.0.1,10.0.0.2", "sslcert": "/c", "sslkey": "/k", "sslrootcert": "/r",
	})}
	common := Settings{"user": "owner", "dbname": "data", "sslmode": "disable", "sslrootcert": "/r", "connect_timeout": "3"}
	here := common.With(Settings{"host": "a,b", "hostaddr": "10.0.0.1,10.0.0.2", "target_session_attrs": "primary", "port": "1,2"})
	cases := []struct {
		given     Settings
		superuser bool
		want      Settings
	}{
		{nil, false, here},
		{nil, true, here.With(Settings{"password": "hunter", "sslcert": "/c", "sslkey": "/k"})},
		{Settings{"host": "h"}, true, common.With(Settings{"host": "h"})},
		{Settings{"hostaddr": "10.0.0.3"}, true, common.With(Settings{"hostaddr": "10.0.0.3"})},
		{Settings{"port": "3"}, true, common.With(Settings{"host": "a,b", "hostaddr": "10.0.0.1,10.0.0.2", "port": "3"})},
		{Settings{"options": "-c x=y"}, false, here.With(Settings{"options": "-c x=y"})},
	}
	for _, c := range cases {
		rules.Superuser = c.superuser
		if got := rules.inherit(c.given); !maps.Equal(got, c.want) {
			t.Errorf("%v becomes %s, want %s", c.given, got.String(), c.want.String())
		}
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "pass"), "h:*:*:*:from file\n")
	write(t, filepath.Join(dir, "services"), "[s]\nhost=h\n")
	rules := Rules{
		Base: base.With(Settings{"passfile": filepath.Join(dir, "pass")}),
		Named: map[string]string{
			"warehouse":      "host=w",
			"host=h":         "host=x", // a name may look like anything
			"file":           "host=h",
			"service":        "service=s servicefile=" + filepath.Join(dir, "services"),
			"broken":         "hots=h",
			"broken file":    "host=h sslrootcert=/nowhere sslmode=require",
			"broken service": "service=t servicefile=" + filepath.Join(dir, "services"),
		},
	}
	for name, want := range map[string]string{"warehouse": "w:", "host=h": "x:", "file": "h:from file", "service": "h:from file"} {
		d, err := rules.Resolve(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if cfg := d.config; cfg.Host+":"+cfg.Password != want || d.Name != name || cfg.ValidateConnect != nil {
			t.Errorf("%s leads to %s, which is called %s", name, cfg.Host, d.Name)
		}
	}
	for _, name := range []string{"broken", "broken file", "broken service"} {
		_, err := rules.Resolve(name)
		var refused *Refused
		if !errors.As(err, &refused) || refused.Message != `remote "`+name+`" of the configuration can't be used` || refused.Private == "" || refused.Detail+refused.Hint != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	resolve := func(superuser bool, remote string) string {
		d, err := Rules{Base: base, Superuser: superuser}.Resolve(remote)
		if err != nil {
			t.Fatal(err)
		}
		return d.Key
	}
	same := []string{
		resolve(false, "host=h password=p dbname=data"), resolve(false, "password='p'  host = h"), resolve(false, "postgres://:p@h"),
	}
	if len(slices.Compact(same)) != 1 {
		t.Errorf("keys of one destination: %v", same)
	}
	others := []string{
		same[0], resolve(true, "host=h password=p"), resolve(false, "host=h password=q"), resolve(false, "host=h password=p user=u"),
		resolve(false, "host=h password=p application_name=x"),
	}
	slices.Sort(others)
	if len(slices.Compact(others)) != 5 {
		t.Errorf("keys of different destinations: %v", others)
	}
}

// TestResolveIgnoresTheEnvironment: whatever it says, a task's string leads to the same place.
func TestResolveIgnoresTheEnvironment(t *testing.T) {
	home := bare(t)
	rules := map[string]Rules{
		"password=p":        {Base: base.With(Settings{"sslmode": "prefer"})},
		"host=h password=p": {Base: base.With(Settings{"sslmode": "prefer"})},
		"host=h dbname=d":   {Base: Settings{"host": "own", "user": "owner"}, Superuser: true},
	}
	before := map[string]Destination{}
	for remote, rules := range rules {
		d, err := rules.Resolve(remote)
		if err != nil {
			t.Fatal(err)
		}
		before[remote] = d
	}

	write(t, filepath.Join(home, ".pgpass"), "*:*:*:*:hunter\n")
	write(t, filepath.Join(home, "pass"), "*:*:*:*:hunter\n")
	write(t, filepath.Join(home, ".pg_service.conf"), "[hunter]\nhost=hunter\n")
	for _, name := range []string{"postgresql.crt", "postgresql.key", "root.crt"} {
		write(t, filepath.Join(home, ".postgresql", name), "nonsense")
	}
	for variable, value := range map[string]string{
		"PGHOST": "hunter", "PGHOSTADDR": "10.0.0.9", "PGPORT": "1", "PGDATABASE": "hunter", "PGUSER": "hunter", "PGPASSWORD": "hunter",
		"PGPASSFILE": filepath.Join(home, "pass"), "PGSERVICEFILE": filepath.Join(home, ".pg_service.conf"),
		"PGAPPNAME": "hunter", "PGCLIENTENCODING": "latin1", "PGOPTIONS": "-c a=b", "PGTZ": "Asia/Tokyo", "PGDATESTYLE": "German", "PGGEQO": "off",
		"PGCONNECT_TIMEOUT": "9", "PGTARGETSESSIONATTRS": "standby", "PGLOADBALANCEHOSTS": "random",
		"PGSSLMODE": "verify-full", "PGSSLKEY": "/nowhere", "PGSSLCERT": "/nowhere", "PGSSLCERTMODE": "require", "PGSSLSNI": "0",
		"PGSSLROOTCERT": "/nowhere", "PGSSLCRL": "/nowhere", "PGSSLCRLDIR": "/nowhere", "PGSSLPASSWORD": "hunter", "PGSSLNEGOTIATION": "direct",
		"PGSSLMINPROTOCOLVERSION": "TLSv1.3", "PGSSLMAXPROTOCOLVERSION": "TLSv1.3", "PGMINPROTOCOLVERSION": "3.2", "PGMAXPROTOCOLVERSION": "3.2",
		"PGCHANNELBINDING": "require", "PGREQUIREAUTH": "none", "PGREQUIREPEER": "hunter", "PGGSSENCMODE": "require", "PGKRBSRVNAME": "hunter",
	} {
		t.Setenv(variable, value)
		for remote, rules := range rules {
			after, err := rules.Resolve(remote)
			if err != nil {
				t.Errorf("%s: %v", variable, err)
				continue
			}
			if difference := differ(after.config, before[remote].config); difference != "" || after.Key != before[remote].Key {
				t.Errorf("%s changes the %s of %q", variable, difference, remote)
			}
		}
	}
}
