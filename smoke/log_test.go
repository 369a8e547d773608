package smoke

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLogReaderGoesAway: the program goes on serving when nobody reads its log any more.
func TestLogReaderGoesAway(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(pgtaskd, "--log-level", "debug", "run", "--config", configure(t, database, object{}))
	cmd.Stdout, cmd.Stderr = writer, writer
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = writer.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for lines := bufio.NewScanner(reader); lines.Scan() && !strings.Contains(lines.Text(), `"leading"`); {
	}
	_ = reader.Close()
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil { // it logs this
		t.Fatal(err)
	}
	u := connect(t, postgres.DSN(database))
	u.becomes(u.add("input", "'SELECT 1'"), "DONE")
	u.exec("DROP TRIGGER pgtaskd_update ON task") // and this
	u.becomes(u.add("input", "'SELECT 1/0'"), "FAIL")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		t.Error("it does not end")
	}
}
