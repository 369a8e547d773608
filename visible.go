package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf16"

	"github.com/rs/zerolog"

	"pgtaskd/human"
)

// printLine writes one line.
func printLine(out io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintln(out, human.Visible(fmt.Sprintf(format, args...))) // nobody could be told
}

// visibleJSON passes lines of JSON on, with hidden characters written as JSON's escapes, which mean
// the same. Control characters below 0x20 are escaped already.
type visibleJSON struct{ out io.Writer }

func (v visibleJSON) Write(line []byte) (int, error) {
	text := strings.TrimSuffix(string(line), "\n")
	if strings.IndexFunc(text, human.Hidden) < 0 {
		return v.out.Write(line)
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !human.Hidden(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	b.WriteByte('\n')
	if _, err := io.WriteString(v.out, b.String()); err != nil {
		return 0, err
	}
	return len(line), nil
}

// console writes for people. The message is made visible first, fields are quoted by zerolog; so
// control characters below 0x20 are its own colours, and the end of the line.
func console(out io.Writer, colours bool) zerolog.ConsoleWriter {
	return zerolog.ConsoleWriter{Out: visibleText{out}, NoColor: !colours, TimeFormat: "15:04:05.000", FormatPrepare: func(event map[string]any) error {
		if message, ok := event[zerolog.MessageFieldName].(string); ok {
			event[zerolog.MessageFieldName] = human.Visible(message)
		}
		return nil
	}}
}

// visibleText passes text on, with hidden characters written as escapes, but for control characters
// below 0x20.
type visibleText struct{ out io.Writer }

func (v visibleText) Write(text []byte) (int, error) {
	var b strings.Builder
	for _, r := range string(text) {
		if r < ' ' {
			b.WriteRune(r)
		} else {
			b.WriteString(human.Visible(string(r)))
		}
	}
	if _, err := io.WriteString(v.out, b.String()); err != nil {
		return 0, err
	}
	return len(text), nil
}
