package remote

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"time"
)

// Credential is where the password of a role comes from, each time that it is needed: a file of
// this machine, or the output of a command; the first line of either. The zero value is none, and
// leaves it to the password file of libpq, to certificates, or to whom the server trusts.
type Credential struct {
	File    string
	Command string // for /bin/sh -c
}

// commandLimit is how long a command may take that prints a password.
const commandLimit = 10 * time.Second

// Password brings the password; "" where there is none. The error is a *Refused.
func (c Credential) Password(ctx context.Context) (string, error) {
	var text []byte
	var err error
	switch {
	case c.File != "":
		text, err = ReadFile(c.File)
	case c.Command != "":
		text, err = output(ctx, c.Command)
	default:
		return "", nil
	}
	password, _, _ := bytes.Cut(text, []byte("\n"))
	password = bytes.TrimSuffix(password, []byte("\r"))
	if err == nil && len(password) == 0 {
		err = fmt.Errorf("it is empty")
	}
	if err != nil {
		return "", &Refused{Message: "the password of the role can't be had", Private: err.Error(), SQLState: "28000"}
	}
	return string(password), nil
}

// output is the output of the command. Its errors contain nothing of that.
func output(ctx context.Context, command string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	run := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	run.WaitDelay = time.Second
	text, err := run.Output()
	if err != nil {
		return nil, fmt.Errorf("password_command: %w", err)
	}
	return text, nil
}

// As are the settings for another role, with its password. Where that is "", the environment's is
// not meant for it, but the password file may have one.
func (s Settings) As(role, password string) Settings {
	other := s.With(Settings{"user": role, "scram_client_key": "", "scram_server_key": ""}) // which prove another role
	other["password"] = password
	return other
}
