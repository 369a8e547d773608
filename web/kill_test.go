package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pgtaskd/conf"
	"pgtaskd/web/page"
)

// TestOnlyTheDemoKillsItsLeader: an operator can, and comes back to the page; elsewhere nobody can.
func TestOnlyTheDemoKillsItsLeader(t *testing.T) {
	t.Parallel()
	kills := 0
	for _, c := range []struct {
		demo  *page.Demo
		token string
		want  int
	}{
		{nil, "acts", 404},
		{&page.Demo{Kill: func() { kills++ }}, "reads", 403},
		{&page.Demo{Kill: func() { kills++ }}, "acts", 303},
	} {
		s := &site{New(zerolog.Nop(), "v1"), t}
		t.Cleanup(s.Close)
		s.Demo = c.demo
		if err := s.Listen(conf.HTTP{Listen: "127.0.0.1:0", Users: []conf.User{{Name: "ann", Token: "acts", Operator: true}, {Name: "wall", Token: "reads"}}}); err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/kill", strings.NewReader("back=/tasks%3Fkey=a"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Authorization", "Bearer "+c.token)
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if back := response.Header.Get("Location"); response.StatusCode != c.want || c.want == 303 && back != "/tasks?key=a" {
			t.Errorf("%s: %d, leads to %q", c.token, response.StatusCode, back)
		}
	}
	if kills != 1 {
		t.Errorf("%d kills", kills)
	}
}
