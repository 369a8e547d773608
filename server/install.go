package server

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
)

//go:embed install.sh
var installScript string

// Install has the system's package manager install PostgreSQL, unless it is there. It announces
// each step on out, and may ask for a password on the terminal, by way of sudo. The error says why
// it cannot be done.
func Install(ctx context.Context, out io.Writer) error {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", installScript, "install.sh", "postgresql")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("installing PostgreSQL: %w (%w)", ErrNoBinaries, err)
	}
	return nil
}
