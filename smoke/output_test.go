package smoke

import (
	"strings"
	"testing"
)

func TestLargeOutput(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("input", "'SELECT repeat(''x'', 1000) FROM generate_series(1, 20000)'")
	u.becomes(id, "DONE")
	u.is("(SELECT octet_length(output) BETWEEN 8000000 AND 8388608 + 200 AND output NOT LIKE '%x' FROM task WHERE id = $1)", "t", id)
}

// TestOutputLimit: output over output_limit is cut after a whole line.
func TestOutputLimit(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	u.table = "limited"
	const input = "'SELECT n, repeat(chr(252), 10) FROM generate_series(1, 20) AS n; SELECT 1'"
	row := u.becomes(u.add("input", input), "DONE")
	lines := strings.Split(row.text("output"), "\n")
	if len(lines) != 6 || lines[0] != "n\trepeat" || lines[4] != "4\tüüüüüüüüüü" || !strings.Contains(lines[5], "100") {
		t.Errorf("the output is %q", lines)
	}
	u.shows(row, "error", "NULL")
	u.shows(u.becomes(u.add("input", "'SELECT repeat(''x'', 100)'"), "DONE"), "output", strings.Repeat("x", 100))

	u.table = "strict"
	row = u.becomes(u.add("input", input), "FAIL")
	if !strings.HasPrefix(row.text("error"), "ERROR:  ") || !strings.HasSuffix(row.text("error"), "\nSTATEMENT:  "+strings.ReplaceAll(strings.Trim(input, "'"), "''", "'")) {
		t.Errorf("the error is %q", row.text("error"))
	}
	// None of its effects is kept.
	u.exec("CREATE TABLE over (a int)")
	u.becomes(u.add("input", "'INSERT INTO over VALUES (1); SELECT repeat(''x'', 200)'"), "FAIL")
	u.is("(SELECT count(*) FROM over)", "0")
}

// TestBinaryText: control characters and other odd characters.
func TestBinaryText(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("input", `E'SELECT ''\x01\x02\x1f\x7f\u0080\u200b\ufeff\r\x0b\f'' AS "\x01"'`)
	u.shows(u.becomes(id, "DONE"), "output", "\x01\x02\x1f\x7f\u0080\u200b\ufeff\r\v\f")
	id = u.add("input", `E'\ufeffSELECT 1'`)
	u.shows(u.becomes(id, "FAIL"), "sqlstate", "42601")
}
