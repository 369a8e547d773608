package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRunWithMetrics: run serves them at the configured address. A port in use is a fault, and the
// file can be corrected while the program runs.
func TestRunWithMetrics(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	path := filepath.Join(t.TempDir(), "pgtaskd.json")
	write := func(address string) {
		if err := os.WriteFile(path, fmt.Appendf(nil, `{"http": {"listen": %q}, "targets": []}`, address), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(taken.Addr().String())
	err = start(t, "--config", path).end()
	var said bytes.Buffer
	if exitCode(err, &said) != 1 || !strings.Contains(said.String(), "http.listen: cannot listen on "+taken.Addr().String()) {
		t.Errorf("%v: %s", err, said.String())
	}

	write("127.0.0.1:0")
	d := start(t, "--config", path)
	url := ""
	d.until("the address", func() bool {
		_, rest, _ := strings.Cut(d.stderr.String(), `"url":"`)
		url, _, _ = strings.Cut(rest, `"`)
		return url != ""
	})
	answers := func(page string) bool {
		response, err := http.Get(url + page)
		if err == nil {
			response.Body.Close()
		}
		return err == nil && response.StatusCode == http.StatusOK
	}
	if !answers("/healthz") || !answers("/metrics") {
		t.Error("no answer")
	}
	write(taken.Addr().String())
	d.until("the fault", func() bool { return strings.Contains(d.stderr.String(), "cannot serve the page there") })
	if !answers("/healthz") {
		t.Error("a bad address has ended the good one")
	}
}
