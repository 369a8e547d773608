package human

import "testing"

// TestPasswordsInErrorsAreMasked in each form in which SQL may write them.
func TestPasswordsInErrorsAreMasked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ERROR:  host=a password=hush dbname=b":             "ERROR:  host=a password=*** dbname=b",
		"ERROR:  host=a password=hu@sh dbname=b":            "ERROR:  host=a password=*** dbname=b",
		`ERROR:  host=a password=hu\ sh dbname=b`:           "ERROR:  host=a password=*** dbname=b",
		`ERROR:  password='hu\'sh' dbname=b`:                "ERROR:  password=*** dbname=b",
		"ERROR:  host=a PASSWORD = 'hush hush' x":           "ERROR:  host=a PASSWORD = *** x",
		"ERROR:  postgres://u:hush@h/d":                     "ERROR:  postgres://u:***@h/d",
		"ERROR:  postgres://u:hu@sh@h/d x":                  "ERROR:  postgres://u:***@h/d x",
		"ERROR:  postgres://h/d?user=u&sslpassword=hush":    "ERROR:  postgres://h/d?user=u&sslpassword=***",
		"ERROR:  ALTER ROLE a PASSWORD 'hush'":              "ERROR:  ALTER ROLE a PASSWORD ***",
		"ERROR:  ALTER ROLE a PASSWORD 'hus":                "ERROR:  ALTER ROLE a PASSWORD ***",
		"ERROR:  ALTER ROLE a PASSWORD 'hu''sh' x":          "ERROR:  ALTER ROLE a PASSWORD *** x",
		"ERROR:  ALTER ROLE a PASSWORD E'hush' x":           "ERROR:  ALTER ROLE a PASSWORD E*** x",
		"ERROR:  EXECUTE 'ALTER ROLE a PASSWORD ''hush'' '": "ERROR:  EXECUTE 'ALTER ROLE a PASSWORD ***",
		"ERROR:  ALTER ROLE a PASSWORD $$hush$$ x":          "ERROR:  ALTER ROLE a PASSWORD *** x",
		`ERROR:  {"password": "hu\"sh", "a": 1}`:            `ERROR:  {"password": ***, "a": 1}`,
		"ERROR:  password authentication failed for user":   "ERROR:  password authentication failed for user",
		`ERROR:  password authentication failed for "u"`:    `ERROR:  password authentication failed for "u"`,
		"ERROR:  at 12:00 see https://example.org/x":        "ERROR:  at 12:00 see https://example.org/x",
	} {
		if got := Masked(text); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
