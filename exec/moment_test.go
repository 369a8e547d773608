package exec

import (
	"testing"
	"time"
)

func TestMoment(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 11, 22, 1, 2, 3, 456789000, time.UTC)
	for _, text := range []string{`\x000303d1cb44b115`, `\000\003\003\321\313D\261\025`} {
		if got, err := moment([]byte(text)); err != nil || !got.Equal(want) {
			t.Errorf("%s: %s %v, want %s", text, got.UTC(), err, want)
		}
	}
	for _, text := range []string{"", `\x`, `\x00`, `\xzz0303e93bdae8d5`, "2026-11-22", `\000\003`} {
		if got, err := moment([]byte(text)); err == nil {
			t.Errorf("%q is taken for %s", text, got)
		}
	}
}

// TestMomentAsServer reads the server's clock under each bytea_output.
func TestMomentAsServer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, output := range []string{"hex", "escape"} {
		task := spec("SELECT 1")
		task.Settings = [][2]string{{"bytea_output", output}}
		_, start, err := b.session.Begin(nil, task)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.session.Await(task, start); err != nil {
			t.Fatal(err)
		}
		if off := time.Since(start); off < -time.Minute || off > time.Minute {
			t.Errorf("%s: %s is off by %s", output, start, off)
		}
		if _, err := b.session.End(&Tail{}); err != nil {
			t.Fatal(err)
		}
	}
}
