package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pgtaskd/conf"
	"pgtaskd/server/servertest"
)

// nasty has characters that a terminal would obey, or not show.
const nasty = "a\x1b[31m\u202eb\u200b\u0085\r\n\u009b2J\ufeff\u2066\U000e0041\x7f\u3164\u2028z"

// obeys returns the first of these characters in a text.
func obeys(text string) string {
	for r := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "") {
		if strings.ContainsAny(r, "\x1b\u202e\u200b\u0085\r\n\u009b\ufeff\u2066\U000e0041\x7f\u3164\u2028") {
			return fmt.Sprintf("%q", r)
		}
	}
	return ""
}

func TestLogIsVisible(t *testing.T) {
	t.Parallel()
	for name, wrap := range map[string]func(*bytes.Buffer) zerolog.Logger{
		"text": func(b *bytes.Buffer) zerolog.Logger { return zerolog.New(console(b, true)) },
		"JSON": func(b *bytes.Buffer) zerolog.Logger { return zerolog.New(changed{b, visibleJSON}) },
	} {
		var out bytes.Buffer
		log := wrap(&out)
		log.Info().Err(errors.New(nasty)).Str("target", nasty).Strs("list", []string{nasty}).Msg("created " + nasty)
		text := out.String()
		if name == "text" {
			for _, own := range []string{"\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[90m"} { // colours
				text = strings.ReplaceAll(text, own, "")
			}
		} else {
			var line struct{ Message, Target string }
			if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.Message != "created "+nasty || line.Target != nasty {
				t.Errorf("%v %+v", err, line)
			}
		}
		if found := obeys(text); found != "" || strings.Count(text, "\n") != 1 {
			t.Errorf("%s: %s in %q", name, found, text)
		}
	}
}

// TestCheckIsVisible: no name, error or server can add lines to the output of check, or write
// anything that a terminal obeys.
func TestCheckIsVisible(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn := servertest.Connect(t, dsn)
	target := func(data, table string) string {
		return fmt.Sprintf(`{"data": %s, "user": "postgres", "table": %s}`, quote(data), quote(table))
	}
	for name, config := range map[string]string{
		"table":    fmt.Sprintf(`{"dsn": %s, "targets": [%s]}`, quote(dsn), target(value(t, conn, "SELECT current_database()"), nasty)),
		"database": fmt.Sprintf(`{"dsn": %s, "targets": [%s]}`, quote(dsn+" target_session_attrs=standby"), target(nasty, "task")),
		"fault":    fmt.Sprintf(`{"dsn": %s, "targets": [{%s: 1}]}`, quote(dsn), quote(nasty)),
		"JSON":     "{\x1b",
	} {
		file := filepath.Join(t.TempDir(), nasty)
		if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		exitCode(run(t.Context(), []string{"check", "--config", file}, &stdout, &stderr), &stderr)
		lines := strings.Split(strings.TrimSuffix(stdout.String()+stderr.String(), "\n"), "\n")
		for _, line := range lines {
			if found := obeys(line); found != "" || line == "" {
				t.Errorf("%s: %s in %q", name, found, line)
			}
		}
		if len(lines) > 4 { // the table, those of controllers and groups beside it, and that the role is a superuser
			t.Errorf("%s: %d lines: %q", name, len(lines), lines)
		}
	}
}

func quote(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// TestFaultsAreLines: each fault of a configuration has its own line.
func TestFaultsAreLines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f\n")
	if err := os.WriteFile(path, []byte(`[{"data": 1, "user": 2}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := conf.Read(path)
	var out bytes.Buffer
	if status := exitCode(err, &out); status != 1 || strings.Count(out.String(), "\n") != 2 || strings.Count(out.String(), `f\n: line 1`) != 2 {
		t.Errorf("%d: %s", status, out.String())
	}
}

// TestHarmless: statements go to a terminal only if it shows all of them.
func TestHarmless(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"SELECT 1;\n\tSELECT 2\n": true, "größer": true, "a\x1b[2J": false, "a\u202eb": false, "a\rb": false} {
		if harmless(text) != want {
			t.Errorf("%q", text)
		}
	}
}
