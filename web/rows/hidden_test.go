package rows

import "testing"

// TestErrorsShowNoPasswordsAndNoHiddenInput: the fields that show SQL end an error if the input is
// hidden; a message that only looks like such a field begins its line with a tab.
func TestErrorsShowNoPasswordsAndNoHiddenInput(t *testing.T) {
	t.Parallel()
	const text = "ERROR:  password='hush'\n\tQUERY: no\nHINT:  STATEMENT: no\nQUERY:  SELECT 1\nCONTEXT:  x\nSTATEMENT:  SELECT 2"
	for hidden, want := range map[Hidden]string{
		{}:            "ERROR:  password=***\n\tQUERY: no\nHINT:  STATEMENT: no\nQUERY:  SELECT 1\nCONTEXT:  x\nSTATEMENT:  SELECT 2",
		{Input: true}: "ERROR:  password=***\n\tQUERY: no\nHINT:  STATEMENT: no",
	} {
		if got := hidden.Error(text); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	if got := (Hidden{Input: true}).Error("STATEMENT:  SELECT 1"); got != "" {
		t.Errorf("%q", got)
	}
}
