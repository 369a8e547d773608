package exec

import "testing"

func TestStored(t *testing.T) {
	t.Parallel()
	const text = "aä€…Ж\uFFFD"
	for encoding, want := range map[string]string{
		"UTF8": text, "SQL_ASCII": text, "LATIN1": "aä€...Ж?", "EUC_JP": "aä€...Ж?",
	} {
		if got := Stored(text, encoding); got != want {
			t.Errorf("%s: got %q, want %q", encoding, got, want)
		}
	}
	if got := ASCII(text); got != "a??...??" {
		t.Errorf("got %q", got)
	}
}
