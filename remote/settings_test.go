package remote

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
)

func TestString(t *testing.T) {
	t.Parallel()
	settings := Settings{"user": "u", "host": "/run", "password": `it's \`, "options": "", "dbname": "a b"}
	const want = `host=/run dbname='a b' user=u password='it\'s \\' options=''`
	if got := settings.String(); got != want {
		t.Errorf("String() = %s, want %s", got, want)
	}
}

func TestWith(t *testing.T) {
	t.Parallel()
	before := Settings{"host": "a", "port": "1"}
	after := before.With(Settings{"host": "", "port": "2", "user": "u"})
	if want := (Settings{"port": "2", "user": "u"}); !maps.Equal(after, want) {
		t.Errorf("With gives %v, want %v", after, want)
	}
	if want := (Settings{"host": "a", "port": "1"}); !maps.Equal(before, want) {
		t.Errorf("With has changed the original to %v", before)
	}
	if got := Settings(nil).With(Settings{"host": "a"}); got["host"] != "a" {
		t.Errorf("With of nothing gives %v", got)
	}
}

func TestSettingsAreShownWithoutSecrets(t *testing.T) {
	t.Parallel()
	settings := Settings{"host": "a", "user": "u"}
	const want = "host=a user=u"
	for _, keyword := range secrets {
		settings[keyword] = "hunter"
	}
	if got := settings.Public(); got != want {
		t.Errorf("Public() = %s, want %s", got, want)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		if got := fmt.Sprintf(verb, settings); got != want {
			t.Errorf("%s shows %s", verb, got)
		}
	}
	wrapped := struct{ Own Settings }{settings}
	if got := fmt.Sprintf("%+v", wrapped); strings.Contains(got, "hunter") {
		t.Errorf("within a struct fmt shows %s", got)
	}
	if got, err := json.Marshal(wrapped); err != nil || strings.Contains(string(got), "hunter") {
		t.Errorf("as JSON it is %s, %v", got, err)
	}
}
