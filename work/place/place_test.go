package place

import (
	"strings"
	"testing"
	"time"

	"pgtaskd/remote"
)

var started = time.Date(2026, 11, 29, 3, 0, 0, 123456000, time.UTC)

// led is where the table was led in each case.
func led() Place {
	return Place{
		System: "7001", Name: "shop", Database: 16384, Table: 16402, Major: 16, Timeline: 3,
		Started: started, Directory: "/data", Addresses: []string{"db1:5432", "db2:5432"},
	}
}

// TestVerdicts has each row of the table in docs/copies.md.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	type change = func(led, here *Place)
	restart := func(_, here *Place) { here.Started = started.Add(time.Hour) }
	moved := func(_, here *Place) { here.Addresses = []string{"db9:5432"} }
	name := func(there, now string) change {
		return func(led, here *Place) { led.Cluster, here.Cluster = there, now }
	}
	upgrade := func(major int) change {
		return func(led, here *Place) {
			here.System, here.Major, here.Timeline, here.Directory, led.Major = "7002", major, 1, "/data2", major-1
		}
	}
	for _, c := range []struct {
		name    string
		changes []change
		latest  int
		want    string // part of Differs or Say; "": it goes on, and nothing is said
	}{
		{"nothing", nil, 0, ""},
		{"a restart", []change{restart}, 0, ""},
		{"the same name", []change{name("prod", "prod")}, 0, ""},
		{"a name that is new in the configuration", []change{name("", "prod")}, 0, ""},
		{"another name", []change{name("prod", "staging")}, 0, `here "cluster" is "staging", and there it was "prod"`},
		{"the configuration has no name", []change{name("prod", "")}, 0, `here the configuration has no "cluster", and there it was "prod"`},
		{"system identifier", []change{func(_, here *Place) { here.System = "7002" }}, 0, "another server"},
		{"system identifier, the same name", []change{name("prod", "prod"), func(_, here *Place) { here.System = "7002" }}, 0, "another server"},
		{"the role may not see the system identifier", []change{func(_, here *Place) { here.System = "" }}, 0, ""},
		{"the role might not see it", []change{func(led, _ *Place) { led.System = "" }}, 0, ""},
		{"database", []change{func(_, here *Place) { here.Database++ }}, 0, "another database"},
		{"table", []change{func(_, here *Place) { here.Table++ }}, 0, "another table of the same name"},
		{"pg_upgrade", []change{upgrade(17)}, 0, "upgraded from PostgreSQL 16 to 17"},
		{"pg_upgrade, another database", []change{upgrade(17), func(_, here *Place) { here.Database++ }}, 0, "another server"},
		{"pg_upgrade to 14, another database", []change{upgrade(14), func(_, here *Place) { here.Database++ }}, 0, "upgraded from PostgreSQL 13 to 14"},
		{"pg_upgrade, another table", []change{upgrade(17), func(_, here *Place) { here.Table++ }}, 0, "another server"},
		{"pg_upgrade, another address", []change{upgrade(17), moved}, 0, "another server"},
		{"pg_upgrade, another name", []change{upgrade(17), name("prod", "staging")}, 0, `"staging"`},
		{"an older major", []change{func(_, here *Place) { here.System, here.Major = "7002", 15 }}, 0, "another server"},
		{"data directory", []change{restart, func(_, here *Place) { here.Directory = "/clone" }}, 0, "its data directory is /clone, not /data"},
		{"data directory, the same name", []change{name("prod", "prod"), func(_, here *Place) { here.Directory = "/clone" }}, 0, "a clone"},
		{"the role may not see the data directory", []change{func(_, here *Place) { here.Directory = "" }}, 0, ""},
		{"Neon's timeline", []change{func(led, here *Place) { led.Neon, here.Neon = "a", "b" }}, 0, "another branch"},
		{"Neon's timeline is the same", []change{restart, func(led, here *Place) { led.Neon, here.Neon = "a", "a" }}, 0, ""},
		{"a lower timeline", []change{func(_, here *Place) { here.Timeline = 2 }}, 0, "an earlier timeline (2, not 3)"},
		{"a promoted standby", []change{restart, func(_, here *Place) { here.Timeline, here.Directory = 4, "/standby" }}, 0, ""},
		{"a promoted standby that nobody knows", []change{restart, moved, func(_, here *Place) { here.Timeline, here.Directory = 4, "/standby" }}, 0, "another address (db9:5432)"},
		{"a promoted standby with the name", []change{restart, moved, name("prod", "prod"), func(_, here *Place) { here.Timeline = 4 }}, 0, ""},
		{"a stale primary", []change{restart}, 4, "stale: it is on timeline 3, and its successor on timeline 4"},
		{"the others are not ahead", []change{restart}, 3, ""},
		{"no timeline", []change{func(_, here *Place) { here.Timeline = 0 }}, 4, ""},
		{"nothing but the address", []change{restart, moved}, 0, "another address (db9:5432)"},
		{"the address, a new name", []change{restart, moved, name("", "prod")}, 0, "another address"},
		{"the address, the same name", []change{restart, moved, name("prod", "prod")}, 0, ""},
		{"the address, no restart", []change{moved}, 0, ""},
		{"one address of several", []change{restart, func(_, here *Place) { here.Addresses = []string{"db9:5432", "db2:5432"} }}, 0, ""},
		{"no address is written", []change{restart, func(led, _ *Place) { led.Addresses = nil }}, 0, ""},
	} {
		there, here := led(), led()
		for _, change := range c.changes {
			change(&there, &here)
		}
		v := Judge(there, here, c.latest)
		if got := v.Differs + v.Say; (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
		if (v.Say != "") != strings.HasPrefix(c.want, "upgraded") || v.Remade != (c.name == "table") ||
			v.Named != strings.HasPrefix(v.Differs, "here is another address") || v.Stale != strings.Contains(c.want, "stale") {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
}

// TestAddressesAreThoseOfTheConnectionString: as they were written; only a socket belongs to a machine.
func TestAddressesAreThoseOfTheConnectionString(t *testing.T) {
	t.Parallel()
	for dsn, want := range map[string]string{
		"host=DB1 port=5433":                    "db1:5433",
		"host=db1,db2":                          "db1:5432 db2:5432",
		"host=db1,db2 port=1,2":                 "db1:1 db2:2",
		"host=db1,db2 port=7":                   "db1:7 db2:7",
		"hostaddr=10.0.0.1":                     "10.0.0.1:5432",
		"host=db1 hostaddr=10.0.0.1":            "db1:5432",
		"host=/run/Pg port=5433":                "/run/Pg:5433@" + machine(),
		"postgres://db1:5433,[::1]:5434/shop":   "db1:5433 ::1:5434",
		"postgres:///shop?host=/run/pg&port=99": "/run/pg:99@" + machine(),
	} {
		settings, err := remote.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(addresses(settings), " "); got != want {
			t.Errorf("%s: %s, not %s", dsn, got, want)
		}
	}
}

// TestAddressesAreAdded up to a limit, those of today first.
func TestAddressesAreAdded(t *testing.T) {
	t.Parallel()
	before, now := led(), led()
	now.Addresses = []string{"vip:5432", "db1:5432"}
	if got := strings.Join(now.succeeding(before).Addresses, " "); got != "vip:5432 db1:5432 db2:5432" {
		t.Error(got)
	}
	before.Addresses = strings.Split(strings.Repeat("x,", mostAddresses)+"y", ",")
	if got := now.succeeding(before).Addresses; len(got) > mostAddresses || got[0] != "vip:5432" {
		t.Error(got)
	}
}
