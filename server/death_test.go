package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
)

// childVariable makes this test binary the program that TestDeath kills.
const childVariable = "PGTASKD_SERVER_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		beKilled()
	}
	servertest.Main(m)
}

// beKilled starts a server, prints its folder, and waits to be killed.
func beKilled() {
	s, err := server.Start(context.Background(), server.Options{Settings: map[string]string{"fsync": "off"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(s.SocketDir)
	select {}
}

func TestDeath(t *testing.T) {
	t.Parallel()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childVariable+"=1")
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // killed, as it was meant to be

	folder := strings.TrimSpace(line)
	deadline := time.After(30 * time.Second)
	for {
		if _, err := os.Stat(folder); errors.Is(err, os.ErrNotExist) {
			return // the guard removes it after the server's end
		}
		select {
		case <-deadline:
			t.Fatalf("%s outlived the program that made it", folder)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
