package place

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"pgtaskd/remote"
)

// Place is where a table is. Facts that the server hides, or that a Place of an earlier version
// lacks, are empty.
type Place struct {
	Cluster   string    `json:"cluster,omitempty"` // the name in the configuration
	System    string    `json:"system,omitempty"`  // the server's system identifier
	Name      string    `json:"name"`              // of the database
	Database  int64     `json:"database"`          // oid
	Table     int64     `json:"table"`             // oid
	Major     int       `json:"major"`             // of the server's version
	Timeline  int       `json:"timeline,omitempty"`
	Started   time.Time `json:"started"` // when the server started
	Directory string    `json:"directory,omitempty"`
	Neon      string    `json:"neon,omitempty"` // Neon's timeline, which is a branch
	Addresses []string  `json:"addresses,omitempty"`
	Adopted   time.Time `json:"adopted,omitzero"` // when somebody last adopted it as a copy
}

// Verdict says whether a table is where it was led.
type Verdict struct {
	Differs string // why the table is a copy; "": it is none
	Remade  bool   // the table is no copy if all its tasks are new: somebody has made it again
	Named   bool   // a name in the configuration would have told that it is none
	Stale   bool   // it is no copy: its server was replaced by one that has gone on
	Say     string // for the log, if it is none
}

// pgUpgradeKeepsDatabases is the first major version to which pg_upgrade keeps the oids of databases.
const pgUpgradeKeepsDatabases = 15

// Judge compares where a table was led with where it is. latest is the highest timeline of this
// server's history that is known from elsewhere; 0: none.
func Judge(led, here Place, latest int) Verdict {
	differ := func(a, b string) bool { return a != "" && b != "" && a != b }
	there := slices.ContainsFunc(here.Addresses, func(a string) bool { return slices.Contains(led.Addresses, a) })
	switch {
	case led.Cluster != "" && here.Cluster == "":
		return Verdict{Differs: fmt.Sprintf(`here the configuration has no "cluster", and there it was %q`, led.Cluster)}
	case differ(led.Cluster, here.Cluster):
		return Verdict{Differs: fmt.Sprintf(`here "cluster" is %q, and there it was %q`, here.Cluster, led.Cluster)}
	case here.Major > led.Major && here.Table == led.Table && there && (here.Major < pgUpgradeKeepsDatabases || here.Database == led.Database):
		return Verdict{Say: fmt.Sprintf("the server was upgraded from PostgreSQL %d to %d: the table goes on", led.Major, here.Major)}
	case differ(led.System, here.System):
		return Verdict{Differs: fmt.Sprintf("here is another server (its system identifier is %s, not %s)", here.System, led.System)}
	case here.Database != led.Database:
		return Verdict{Differs: fmt.Sprintf("here is another database (its oid is %d, not %d)", here.Database, led.Database)}
	case here.Table != led.Table:
		return Verdict{Differs: fmt.Sprintf("here is another table of the same name (its oid is %d, not %d)", here.Table, led.Table), Remade: true}
	case here.Timeline != 0 && here.Timeline < latest:
		return Verdict{Differs: fmt.Sprintf("the server is stale: it is on timeline %d, and its successor on timeline %d", here.Timeline, latest), Stale: true}
	case here.Timeline != 0 && here.Timeline < led.Timeline:
		return Verdict{Differs: fmt.Sprintf("here is an earlier timeline (%d, not %d)", here.Timeline, led.Timeline)}
	case here.Timeline == led.Timeline && differ(led.Directory, here.Directory): // a promoted standby has its own
		return Verdict{Differs: fmt.Sprintf("here is a clone of the server (its data directory is %s, not %s)", here.Directory, led.Directory)}
	case differ(led.Neon, here.Neon):
		return Verdict{Differs: fmt.Sprintf("here is another branch (Neon's timeline %s, not %s)", here.Neon, led.Neon)}
	case there, here.Cluster != "" && here.Cluster == led.Cluster, here.Started.Equal(led.Started), len(led.Addresses) == 0:
		return Verdict{}
	}
	return Verdict{Differs: "here is another address (" + shown(here.Addresses) + ")", Named: true}
}

// mostAddresses limits the addresses that a table remembers.
const mostAddresses = 16

// succeeding returns here with what it keeps of where the same table was led.
func (here Place) succeeding(led Place) Place {
	all := slices.Clone(here.Addresses)
	for _, address := range led.Addresses {
		if !slices.Contains(all, address) {
			all = append(all, address)
		}
	}
	here.Addresses, here.Adopted = all[:min(len(all), mostAddresses)], led.Adopted
	return here
}

// from names the place for people.
func (p Place) from() string {
	text := "database " + p.Name
	if len(p.Addresses) > 0 {
		text += " on " + shown(p.Addresses)
	}
	if p.Cluster != "" {
		text += fmt.Sprintf(" (%q)", p.Cluster)
	}
	return text
}

func shown(addresses []string) string {
	const most = 3
	all := make([]string, min(len(addresses), most))
	for i := range all {
		all[i], _, _ = strings.Cut(addresses[i], "@")
	}
	if len(addresses) > most {
		all = append(all, "…")
	}
	return strings.Join(all, ", ")
}

// addresses are the hosts and ports of a connection, as they were written; a directory of sockets
// comes with the machine.
func addresses(s remote.Settings) (all []string) {
	hosts := strings.Split(cmp.Or(s["host"], s["hostaddr"]), ",")
	ports := strings.Split(cmp.Or(s["port"], "5432"), ",")
	for i, host := range hosts {
		address := strings.ToLower(host) + ":" + ports[min(i, len(ports)-1)]
		if strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") {
			address = host + ":" + ports[min(i, len(ports)-1)] + "@" + machine()
		}
		all = append(all, address)
	}
	return all
}

// machine stands for this machine. Its id itself is confidential (see machine-id(5)).
var machine = sync.OnceValue(func() string {
	id, err := os.ReadFile("/etc/machine-id")
	name := strings.TrimSpace(string(id))
	if err != nil || name == "" {
		name, _ = os.Hostname() // without a name, machines are not told apart
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte("pgtaskd "+name)))[:16]
})
