//go:build unix

package server

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// owner is the user under whom a server runs: PostgreSQL refuses to run as root.
type owner struct {
	name       string
	credential *syscall.Credential // nil: the user of this process
}

// findOwner returns this process's own user, or a lesser one if that is root.
func findOwner() (owner, error) {
	if os.Geteuid() != 0 {
		return owner{name: fmt.Sprintf("user %d", os.Geteuid())}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
		if errUID == nil && errGID == nil {
			return owner{name, &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
		}
	}
	return owner{}, errors.New("it cannot run as root, and there is neither a user postgres nor nobody")
}

// chown gives a file below root to the owner.
func (o owner) chown(root *os.Root, name string) error {
	if o.credential == nil {
		return nil
	}
	return root.Chown(name, int(o.credential.Uid), int(o.credential.Gid))
}

// reaches tells whether the owner can enter a folder; if we are root, whether everybody can.
func (o owner) reaches(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	if o.credential == nil {
		return true
	}
	return info.Mode().Perm()&0o001 != 0 && (dir == filepath.Dir(dir) || o.reaches(filepath.Dir(dir)))
}

// adopt makes a command run as the owner. It gets nothing of our environment that could mislead it
// (PGDATA …), and its own process group, so that ^C in a terminal reaches only this program.
func (o owner) adopt(cmd *exec.Cmd) {
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: o.credential}
}
