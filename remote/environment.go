package remote

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgservicefile"
	"github.com/jackc/pgx/v5/pgconn"
)

// variables maps libpq's environment variables to keywords.
var variables = func() map[string]string {
	names := map[string]string{
		"PGDATABASE": "dbname", "PGAPPNAME": "application_name", "PGCONNECT_TIMEOUT": "connect_timeout",
	}
	for _, keyword := range []string{ // PGSSLMODE and so on
		"host", "hostaddr", "port", "user", "password", "passfile", "target_session_attrs",
		"load_balance_hosts", "client_encoding", "options", "sslmode", "sslnegotiation", "sslcert", "sslkey", "sslcertmode",
		"sslpassword", "sslrootcert", "sslcrl", "sslcrldir", "sslsni", "ssl_min_protocol_version", "ssl_max_protocol_version",
		"min_protocol_version", "max_protocol_version", "channel_binding", "require_auth", "requirepeer", "gssencmode",
		"krbsrvname",
	} {
		names["PG"+strings.ToUpper(strings.ReplaceAll(keyword, "_", ""))] = keyword
	}
	return names
}()

// service is the value of PGSERVICE at the start. pgconn would obey this variable whatever the
// connection string says. So takeVariable removes it from the environment, and withService uses it
// as a keyword.
var service = takeVariable("PGSERVICE")

func takeVariable(name string) string {
	value := os.Getenv(name)
	_ = os.Unsetenv(name)
	return value
}

// Placed reports whether the environment says where to connect.
func Placed() bool {
	return service != "" || os.Getenv("PGHOST") != "" || os.Getenv("PGHOSTADDR") != "" || os.Getenv("PGDATABASE") != ""
}

// NamesUser reports whether s, its service or the environment names a user. If not, the user is
// that of the operating system.
func NamesUser(s Settings) bool {
	given, err := s.withService()
	return err == nil && given.given("user") || os.Getenv("PGUSER") != ""
}

// withService adds the settings of the service in s, or else of the environment's service.
func (s Settings) withService() (Settings, error) {
	if s["service"] == "" {
		s = s.With(Settings{"service": service})
	}
	return s.expand()
}

// Complete returns s with everything that libpq would add on this machine: the environment (except
// PGTZ, PGDATESTYLE and PGGEQO), the service file, the password file, files in ~/.postgresql, the
// user and the database; and of several hosts the primary is meant. Own connects with the result; it is also the Base of Rules. The error is a
// *Refused.
func Complete(s Settings) (Settings, error) {
	given, err := s.withService()
	if err != nil {
		return nil, err
	}
	completed := home()
	for variable, keyword := range variables {
		if value := os.Getenv(variable); value != "" {
			completed[keyword] = value
		}
	}
	maps.Copy(completed, given)
	if err := completed.set("port", completed["port"]); err != nil { // the port may come from the environment
		return nil, err
	}
	cfg, err := config(completed)
	if err != nil {
		return nil, err
	}
	found := Settings{"user": cfg.User, "dbname": cmp.Or(cfg.Database, cfg.User), "password": cfg.Password}
	if !completed.given("host", "hostaddr") {
		found["host"] = cfg.Host
	}
	if several := max(count(completed["host"]), count(completed["hostaddr"])) > 1; several && !completed.given("target_session_attrs") {
		found["target_session_attrs"] = "primary" // only that one can be served, whichever stands first
	}
	if !completed.given("port") {
		found["port"] = strconv.Itoa(int(cfg.Port))
	}
	return completed.With(found), nil
}

// Own returns the configuration of one of pgtaskd's own connections. It adds missing settings as
// libpq does (see Complete). The error is a *Refused.
func Own(s Settings) (*pgconn.Config, error) {
	completed, err := Complete(s)
	if err != nil {
		return nil, err
	}
	return config(completed)
}

// expand adds the settings of the service that s names. Those of s itself win.
func (s Settings) expand() (Settings, error) {
	if s["service"] == "" {
		return s, nil
	}
	inHome := filepath.Join(homeDir(), ".pg_service.conf")
	expanded, err := readService(cmp.Or(s["servicefile"], os.Getenv("PGSERVICEFILE"), inHome), s["service"])
	if err != nil {
		return nil, err
	}
	maps.Copy(expanded, s)
	return expanded.With(Settings{"service": "", "servicefile": ""}), nil
}

// readService returns the settings of a service.
func readService(file, name string) (Settings, error) {
	refuse := func(trouble string) error {
		return &Refused{Message: "the service can't be used", Private: fmt.Sprintf("service %q: %s %s", name, file, trouble), SQLState: stateValue}
	}
	if readable(file) != nil {
		return nil, refuse("can't be read")
	}
	services, err := pgservicefile.ReadServicefile(file)
	if err != nil {
		return nil, refuse("can't be read")
	}
	found, err := services.GetService(name)
	if err != nil {
		return nil, refuse("has no such service")
	}
	settings := Settings{}
	for keyword, value := range found.Settings {
		if !isKeyword(keyword) {
			return nil, refuse("has an unknown keyword there")
		}
		if err := settings.set(keyword, value); err != nil {
			return nil, err
		}
	}
	return settings, nil
}

// home returns the files that libpq looks for in the home directory.
func home() Settings {
	files := Settings{"passfile": filepath.Join(homeDir(), ".pgpass")}
	certificate := filepath.Join(homeDir(), ".postgresql", "postgresql.crt")
	key := filepath.Join(homeDir(), ".postgresql", "postgresql.key")
	if exists(certificate) && exists(key) {
		files["sslcert"], files["sslkey"] = certificate, key
	}
	if root := filepath.Join(homeDir(), ".postgresql", "root.crt"); exists(root) {
		files["sslrootcert"] = root
	}
	return files
}

// homeDir returns the home directory; without one, a path below which nothing exists.
func homeDir() string {
	dir, err := os.UserHomeDir()
	if err != nil {
		return os.DevNull
	}
	return dir
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
