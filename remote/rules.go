package remote

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Rules say where the tasks of one target may go.
type Rules struct {
	// Base are the settings of the target's own connection, made by Complete.
	Base Settings
	// Superuser: the target's role is a superuser.
	Superuser bool
	// Named are the connection strings of the configuration by name. They are trusted: they may
	// name files of this machine, and need no password.
	Named map[string]string
}

// Resolve returns the destination of a task's remote: a name in the configuration, or a connection
// string. Missing settings come from the target's own connection, never from the environment. The
// error is a *Refused.
func (r Rules) Resolve(remote string) (Destination, error) {
	if named, ok := r.Named[remote]; ok {
		d, err := r.named(named)
		if err != nil {
			return Destination{}, inNamed(remote, err)
		}
		d.Name = remote
		return d, nil
	}

	given, err := Parse(remote)
	if err != nil && !strings.ContainsAny(remote, "=:") {
		return Destination{}, &Refused{
			Message:  "remote is neither a connection string nor the name of one in the configuration",
			SQLState: stateSyntax,
		}
	}
	if err != nil {
		return Destination{}, err
	}
	settings := r.inherit(given)
	err = cmp.Or(given.checkKeywords(), given.checkHosts(), r.checkProtection(given, settings), settings.checkControls())
	if err != nil {
		return Destination{}, err
	}
	if !r.Superuser && !settings.given("password") {
		return Destination{}, passwordRequired("A role that is not a superuser must give a password in remote.",
			"Or use the name of a connection string in the configuration.")
	}
	return destination(settings, !r.Superuser)
}

// named resolves a connection string of the configuration. It may use the password file.
func (r Rules) named(s string) (Destination, error) {
	given, err := Parse(s)
	if err != nil {
		return Destination{}, err
	}
	if given, err = given.expand(); err != nil {
		return Destination{}, err
	}
	settings := r.inherit(given)
	if !settings.given("passfile") {
		settings["passfile"] = r.Base["passfile"]
	}
	return destination(settings, false)
}

// inNamed says which named string is wrong. Only the administrator sees why.
func inNamed(name string, err error) error {
	var refused *Refused
	if !errors.As(err, &refused) {
		return err
	}
	why := []string{refused.Message, refused.Private, refused.Detail}
	why = slices.DeleteFunc(why, func(s string) bool { return s == "" })
	return &Refused{
		Message:  fmt.Sprintf("remote %q of the configuration can't be used", name),
		Private:  strings.Join(why, ": "),
		SQLState: refused.SQLState,
	}
}

// hostsMost limits the hosts of a task's string. Each costs an attempt to connect, and some
// kilobytes even before that.
const hostsMost = 16

// checkHosts refuses a task's string with too many hosts.
func (s Settings) checkHosts() error {
	for _, keyword := range []string{"host", "hostaddr", "port"} {
		if n := count(s[keyword]); n > hostsMost {
			return badValue(keyword, fmt.Sprintf("A connection string in a task has at most %d hosts; this one has %d.", hostsMost, n))
		}
	}
	return nil
}

// checkControls refuses control characters in any value, even in the name of the task's role. The
// values are sent before the server has proved to be PostgreSQL: another kind of server could read
// lines in them and obey.
func (s Settings) checkControls() error {
	for _, keyword := range s.sorted() {
		if strings.ContainsFunc(s[keyword], func(r rune) bool { return r < ' ' || r == '\x7f' }) {
			return badValue(keyword, "In a task it may have no control characters.")
		}
	}
	return nil
}

// files are the keywords that name files of this machine, or use its identity.
var files = []string{
	"passfile", "service", "servicefile", "sslkey", "sslcert", "sslrootcert", "sslcrl", "sslcrldir", "sslkeylogfile",
	"krbsrvname", "gsslib",
}

// starting are the keywords that tell the server how to start the session. It obeys them, and may
// load a library, before we know whether it has asked for the password: so under a role that
// nothing has proved.
var starting = []string{"options", "replication"}

// checkKeywords refuses a task's string that would make us read a file, or the server load one.
func (s Settings) checkKeywords() error {
	for _, keyword := range starting {
		if s.given(keyword) {
			return notAllowed(keyword, "A connection string in a task may not say how the server starts the session.",
				"Use SET in the task's SQL, its column settings, or the name of a connection string in the configuration.")
		}
	}
	for _, keyword := range files {
		if s.given(keyword) && (keyword != "sslrootcert" || s[keyword] != "system") {
			return notAllowed(keyword,
				"A connection string in a task may not use files or identities of the machine on which the controller runs.",
				"Use the name of a connection string in the configuration.")
		}
	}
	return nil
}

// protecting are the keywords that protect the password on its way, with the values that do not.
var protecting = map[string][]string{
	"sslmode": {"disable", "allow", "prefer"}, "sslnegotiation": {"postgres"}, "sslrootcert": nil,
	"ssl_min_protocol_version": nil, "ssl_max_protocol_version": nil,
	"channel_binding": {"disable", "prefer"}, "require_auth": nil,
}

// sslModes are in order of protection, the weakest first.
var sslModes = []string{"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}

// checkProtection refuses a task's string that would send the target's own password with less
// protection than the target's own connection has: somebody on the way could read it.
func (r Rules) checkProtection(given, settings Settings) error {
	if given.given("password") || !settings.given("password") {
		return nil
	}
	for _, keyword := range slices.Sorted(maps.Keys(protecting)) {
		protects := r.Base.given(keyword) && !slices.Contains(protecting[keyword], r.Base[keyword])
		stronger := keyword == "sslmode" && slices.Index(sslModes, settings[keyword]) > slices.Index(sslModes, r.Base[keyword])
		if protects && !stronger && settings[keyword] != r.Base[keyword] {
			return notAllowed(keyword,
				"A connection string that gives no password uses that of the target's own connection, and what protects it there.",
				"Leave it out, give a password, or use the name of a connection string in the configuration.")
		}
	}
	return nil
}

var (
	// inherited come from the target's own connection if a string leaves them out. Settings of the
	// target's sessions (application_name, options and so on) do not.
	inherited = []string{
		"host", "hostaddr", "port", "dbname", "user", "connect_timeout",
		"sslmode", "sslnegotiation", "sslrootcert", "sslsni", "ssl_min_protocol_version", "ssl_max_protocol_version",
		"min_protocol_version", "max_protocol_version", "channel_binding", "require_auth",
	}
	// inheritedBySuperuser come too, but only for a superuser and to the same server: they prove
	// our identity.
	inheritedBySuperuser = []string{"password", "sslcert", "sslkey", "sslcertmode", "sslpassword"}
)

// inherit completes the given settings with those of the target's own connection.
func (r Rules) inherit(given Settings) Settings {
	given = Settings{}.With(given) // an empty value counts as missing
	keywords := inherited
	if !given.given("host", "hostaddr", "port") {
		keywords = append(slices.Clone(keywords), "target_session_attrs")
		if r.Superuser {
			keywords = slices.Concat(keywords, inheritedBySuperuser)
		}
	}
	base := Settings{}
	for _, keyword := range keywords {
		base[keyword] = r.Base[keyword]
	}
	if given.given("host", "hostaddr") {
		base["host"], base["hostaddr"] = "", ""
		if count(base["port"]) > 1 {
			base["port"] = "" // the list belongs to the other hosts
		}
	}
	return Settings{}.With(base).With(given)
}
