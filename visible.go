package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rs/zerolog"
)

// Names, errors and the words of servers come from others. A terminal must show what stands in
// them, and must not obey it.

// hidden tells what a terminal does not show as it is: control characters, those that change the
// direction of writing, those that have no width, and what is no character.
func hidden(r rune) bool {
	return r != ' ' && !unicode.IsPrint(r) || r == '\u2800' ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// visible writes what is hidden in a text as escapes, such as \n, \x1b and \u202e. The result is
// one line.
func visible(text string) string {
	if strings.IndexFunc(text, hidden) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case !hidden(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// printLine writes one line.
func printLine(out io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintln(out, visible(fmt.Sprintf(format, args...))) // nobody could be told
}

// visibleJSON hands lines of JSON on with what is hidden in them as escapes of JSON, which mean the
// same. Control characters below 0x20 are escaped already.
type visibleJSON struct{ out io.Writer }

func (v visibleJSON) Write(line []byte) (int, error) {
	text := strings.TrimSuffix(string(line), "\n")
	if strings.IndexFunc(text, hidden) < 0 {
		return v.out.Write(line)
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !hidden(r):
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
			event[zerolog.MessageFieldName] = visible(message)
		}
		return nil
	}}
}

// visibleText hands text on with what is hidden in it as escapes, but for control characters below
// 0x20.
type visibleText struct{ out io.Writer }

func (v visibleText) Write(text []byte) (int, error) {
	var b strings.Builder
	for _, r := range string(text) {
		if r < ' ' {
			b.WriteRune(r)
		} else {
			b.WriteString(visible(string(r)))
		}
	}
	if _, err := io.WriteString(v.out, b.String()); err != nil {
		return 0, err
	}
	return len(text), nil
}
