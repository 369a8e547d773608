package human

import "testing"

func TestVisible(t *testing.T) {
	t.Parallel()
	const nasty = "a\x1b[31m\u202eb\u200b\u0085\r\n\u009b2J\ufeff\u2066\U000e0041\x7f\u3164\u2028z"
	const want = `a\x1b[31m\u202eb\u200b\x85\x0d\n\x9b2J\ufeff\u2066\U000e0041\x7f\u3164\u2028z`
	if got := Visible(nasty); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, same := range []string{"", "plain", `a\b "c" 'd'`, "größer 字 ع ≥ …", "targets[0] a/b/c: ready"} {
		if got := Visible(same); got != same {
			t.Errorf("%s becomes %s", same, got)
		}
	}
	if got := Visible("a\xffb\x80"); got != `a\xffb\x80` {
		t.Error(got)
	}
}
