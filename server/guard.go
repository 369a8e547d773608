package server

import (
	"fmt"
	"io"
	"os/exec"
)

// guardScript waits for the end of its standard input, which comes when the program that started it
// is gone, even by SIGKILL, and then stops the server and removes the folder. (A signal at the
// parent's death would be Linux's alone, is tied to the thread that forked, and leaves the folder.)
const guardScript = `
read -r line
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null &&
	while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
rm -rf "$1"
`

// guard is a process that outlives this one for as long as it takes to clean up after it.
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

// release lets the guard end, when the server is gone, and waits for it.
func (g *guard) release() error {
	_ = g.stdin.Close() // closed already, perhaps: Wait tells how the guard has ended
	return g.cmd.Wait()
}
