package main

import (
	"bytes"
	"errors"
	"regexp"
	"testing"

	"github.com/rs/zerolog"

	"pgtaskd/conf"
)

// TestLogFormats: JSON, text, or text with the priority for systemd; always one line.
func TestLogFormats(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	o := newOutput(&b)
	log := zerolog.New(o).With().Timestamp().Logger()
	for format, patterns := range map[string][]string{
		"":                 {`^\{"level":"error","error":"odd\\nline","time":"[^"]+","message":"bad\\n<2>news"\}\n$`, `^\{"level":"info",.*\}\n$`},
		conf.FormatJSON:    {`^\{"level":"error","error":"odd\\nline","time":"[^"]+","message":"bad\\n<2>news"\}\n$`, `^\{"level":"info",.*\}\n$`},
		conf.FormatText:    {`^\d\d:\d\d:\d\d\.\d{3} ERR bad\\n<2>news error="odd\\nline"\n$`, `^\d\d:\d\d:\d\d\.\d{3} INF bad\\n<2>news error="odd\\nline"\n$`},
		conf.FormatJournal: {`^<3>bad\\n<2>news error="odd\\nline"\n$`, `^<6>bad\\n<2>news error="odd\\nline"\n$`},
	} {
		o.set(format)
		for i, line := range []*zerolog.Event{log.Error(), log.Info()} {
			b.Reset()
			line.Err(errors.New("odd\nline")).Msg("bad\n<2>news")
			if !regexp.MustCompile(patterns[i]).MatchString(b.String()) {
				t.Errorf("%q: %q does not match %s", format, b.String(), patterns[i])
			}
		}
	}
	for level, want := range map[zerolog.Level]string{zerolog.TraceLevel: "<7>", zerolog.DebugLevel: "<7>", zerolog.InfoLevel: "<6>", zerolog.WarnLevel: "<4>", zerolog.FatalLevel: "<2>"} {
		if got := priority(level); got != want {
			t.Errorf("%v: %s", level, got)
		}
	}
}
