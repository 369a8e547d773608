package conf

import (
	"fmt"
	"io/fs"
	"os"

	"pgtaskd/remote"
)

// readable are the permissions that let others than the owner read a file.
const readable fs.FileMode = 0o044

// Exposed is a warning when the file at path holds passwords that others of this machine may read;
// else "".
func (f *File) Exposed(path string) string {
	info, err := os.Stat(path)
	if !f.secret || err != nil || info.Mode()&readable == 0 {
		return ""
	}
	return fmt.Sprintf("the configuration contains a password and others can read it (mode %04o): chmod 0600, or put the password into a password file", info.Mode().Perm())
}

// ExposedDSN is a warning when a connection string on the command line holds a password; else "".
func ExposedDSN(dsn string) string {
	settings, err := remote.Parse(dsn)
	if err != nil || !settings.Secret() {
		return ""
	}
	return "the connection string on the command line contains a password, which every user of this machine can see: use PGPASSWORD, a password file or a configuration"
}
