package main_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
)

// shown writes a result as psql does, without the number of rows.
func shown(results []*pgconn.Result, err error) string {
	var answer *pgconn.PgError
	switch {
	case errors.As(err, &answer):
		return answer.Severity + ":  " + answer.Message
	case err != nil:
		return err.Error()
	case len(results) == 0:
		return ""
	}
	result := results[len(results)-1]
	if len(result.FieldDescriptions) == 0 {
		return result.CommandTag.String()
	}
	return grid(result)
}

// numbers are the types that psql aligns to the right.
var numbers = []uint32{20, 21, 23, 26, 700, 701, 1700}

// grid writes the rows of a result under the names of the columns. In a value of several lines, a +
// follows each line except the last.
func grid(result *pgconn.Result) string {
	names := make([]string, len(result.FieldDescriptions))
	widths := make([]int, len(names))
	for i, field := range result.FieldDescriptions {
		names[i], widths[i] = field.Name, utf8.RuneCountInString(field.Name)
		for _, row := range result.Rows {
			for _, line := range cell(row[i]) {
				widths[i] = max(widths[i], utf8.RuneCountInString(line))
			}
		}
	}
	var lines []string
	write := func(between string, value func(column int) string) {
		parts := make([]string, len(names))
		for i := range parts {
			parts[i] = value(i)
		}
		lines = append(lines, strings.TrimRight(strings.Join(parts, between), " "))
	}
	write("|", func(i int) string {
		left := (widths[i] - utf8.RuneCountInString(names[i])) / 2
		return fmt.Sprintf(" %-*s ", widths[i], strings.Repeat(" ", left)+names[i])
	})
	write("+", func(i int) string { return strings.Repeat("-", widths[i]+2) })
	for _, row := range result.Rows {
		height := 0
		for _, value := range row {
			height = max(height, len(cell(value)))
		}
		for n := range height {
			write("|", func(i int) string {
				all, text, more := cell(row[i]), "", " "
				if n < len(all) {
					text = all[n]
				}
				if n+1 < len(all) {
					more = "+"
				}
				if slices.Contains(numbers, result.FieldDescriptions[i].DataTypeOID) {
					return fmt.Sprintf(" %*s%s", widths[i], text, more)
				}
				return fmt.Sprintf(" %-*s%s", widths[i], text, more)
			})
		}
	}
	return strings.Join(lines, "\n")
}

// cell splits a value into lines, with spaces for tabs.
func cell(value []byte) []string {
	lines := strings.Split(string(value), "\n")
	for n, line := range lines {
		var b strings.Builder
		for i, part := range strings.Split(line, "\t") {
			if i > 0 {
				b.WriteString(strings.Repeat(" ", 8-utf8.RuneCountInString(b.String())%8))
			}
			b.WriteString(part)
		}
		lines[n] = b.String()
	}
	return lines
}
