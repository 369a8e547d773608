package server

import (
	"fmt"
	"io"
	"os/exec"
)

// guardScript waits for the end of its standard input. That comes when the program that started it
// is gone, even by SIGKILL. Then it stops the server and removes the folder. (A signal at the
// parent's death exists only on Linux, depends on the thread that forked, and leaves the folder.)
const guardScript = `
read -r line
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null &&
	while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
rm -rf "$1"
`

// guard is a process that outlives this one to clean up after it.
type guard struct {
	cmd   *exec.Cmd
	stdin io.Closer
}

func startGuard(path string, owner owner) (*guard, error) {
	cmd := exec.Command("/bin/sh", "-c", guardScript, "pgtaskd-guard", path)
	owner.adopt(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("guard of %s as %s: %w", path, owner.name, err)
	}
	return &guard{cmd, stdin}, nil
}

// release ends the guard after the server has gone, and waits for it.
func (g *guard) release() error {
	_ = g.stdin.Close() // it may be closed already: Wait tells how the guard has ended
	return g.cmd.Wait()
}
