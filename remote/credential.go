package remote

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"time"
)

// Credential says where to get the password of a role for each connection: the first line of a
// file, or of a command's output. The zero value gives none; then libpq's password file,
// certificates, or the server's trust must do.
type Credential struct {
	File    string
	Command string // for /bin/sh -c
}

// commandLimit is how long a command may take to print a password.
const commandLimit = 10 * time.Second

// Password returns the password; "" for the zero value. The error is a *Refused.
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

// output returns the output of the command. Its errors contain none of it.
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

// As returns the settings for another role, with its password. If that is "", the environment's
// password is not used for the role, but the password file may have one.
func (s Settings) As(role, password string) Settings {
	other := s.With(Settings{"user": role, "scram_client_key": "", "scram_server_key": ""}) // keys of another role
	other["password"] = password
	return other
}
