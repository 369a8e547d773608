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
	_, _ = fmt.Fprintln(out, human.Visible(fmt.Sprintf(format, args...))) // an error could be shown nowhere
}

// changed changes the form of texts and writes them, each at once.
type changed struct {
	out  io.Writer
	form func(string) string
}

func (c changed) Write(text []byte) (int, error) {
	if _, err := io.WriteString(c.out, c.form(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// visibleJSON replaces hidden characters in a line of JSON by JSON's escapes, which mean the same.
// Control characters below 0x20 are escaped already.
func visibleJSON(line string) string {
	var b strings.Builder
	for _, r := range line {
		if r == '\n' || !human.Hidden(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// console writes for people. It makes the message visible first, and zerolog quotes the fields. So
// control characters below 0x20 are only its own colours and the end of the line.
func console(out io.Writer, colours bool) zerolog.ConsoleWriter {
	return zerolog.ConsoleWriter{Out: changed{out, visibleText}, NoColor: !colours, TimeFormat: "15:04:05.000", FormatPrepare: func(event map[string]any) error {
		if message, ok := event[zerolog.MessageFieldName].(string); ok {
			event[zerolog.MessageFieldName] = human.Visible(message)
		}
		return nil
	}}
}

// visibleText replaces hidden characters by escapes, except control characters below 0x20.
func visibleText(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < ' ' {
			b.WriteRune(r)
		} else {
			b.WriteString(human.Visible(string(r)))
		}
	}
	return b.String()
}
