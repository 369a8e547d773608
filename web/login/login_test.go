package login

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pgtaskd/conf"
)

func users(token string) *Users {
	return New([]conf.User{{Name: "ann", Token: token, Operator: true}, {Name: "wall|1", Token: "reads"}}, "/jobs", true, &Tries{})
}

func request(header, value string) *http.Request {
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set(header, value)
	return r
}

// entered logs in and returns the cookie.
func entered(t *testing.T, u *Users, token string) *http.Cookie {
	t.Helper()
	w := httptest.NewRecorder()
	if err := u.Enter(w, httptest.NewRequest("POST", "/login", nil), token); err != nil {
		t.Fatal(err)
	}
	return w.Result().Cookies()[0]
}

// TestWhoIsTold: by a token or by a cookie, which holds after a restart and ends with the token.
func TestWhoIsTold(t *testing.T) {
	t.Parallel()
	u := users("a token")
	cookie := entered(t, u, "a token")
	if c := cookie; !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || c.Path != "/jobs/" || c.MaxAge != 12*60*60 {
		t.Errorf("%v", c)
	}
	value := cookie.Value
	name, rest, _ := strings.Cut(value, ".")
	end, proof, _ := strings.Cut(rest, ".")
	other := entered(t, u, "reads").Value
	for _, c := range []struct {
		header, value string
		role          Role
		err           error
	}{
		{"Authorization", "Bearer a token", Operator, nil},
		{"Authorization", "bearer reads", Reader, nil},
		{"Authorization", "Bearer a toke", Nobody, ErrToken},
		{"Authorization", "Bearer ", Nobody, ErrToken},
		{"Authorization", "Basic YTpi", Nobody, nil}, // of a proxy
		{"Cookie", "pgtaskd=" + value, Operator, nil},
		{"Cookie", "pgtaskd=x; pgtaskd=" + value, Operator, nil},
		{"Cookie", "pgtaskd=" + other, Reader, nil},
		{"Cookie", "pgtaskd=" + name + "." + end + "9." + proof, Nobody, nil},
		{"Cookie", "pgtaskd=" + other[:strings.Index(other, ".")] + "." + end + "." + proof, Nobody, nil},
		{"Cookie", "pgtaskd=" + name + other[strings.Index(other, "."):], Nobody, nil},
		{"Cookie", "pgtaskd=", Nobody, nil},
		{"Cookie", "pgtaskd=..", Nobody, nil},
		{"X", "", Nobody, nil},
	} {
		for _, u := range []*Users{u, users("a token")} { // a restart
			if user, err := u.Who(request(c.header, c.value)); user.Role != c.role || !errors.Is(err, c.err) {
				t.Errorf("%s: %s: %v %v", c.header, c.value, user, err)
			}
		}
	}
	if user, _ := users("another").Who(request("Cookie", "pgtaskd="+value)); user.Role != Nobody {
		t.Error("a cookie holds after its token")
	}
	if user := u.byCookie(value, time.Now().Add(keptFor)); user.Role != Nobody {
		t.Error("a cookie holds after its end")
	}
	if user := u.byCookie(value, time.Now().Add(keptFor-time.Minute)); user.Name != "ann" {
		t.Error("a cookie ends too soon")
	}
}

// TestTriesAreBounded: by address, which a header does not change. A good token is let in meanwhile.
func TestTriesAreBounded(t *testing.T) {
	t.Parallel()
	u := users("a token")
	try := func(address, token string) error {
		r := request("Authorization", "Bearer "+token)
		r.RemoteAddr = address
		r.Header.Set("X-Forwarded-For", fmt.Sprint(time.Now().UnixNano()))
		_, err := u.Who(r)
		return err
	}
	for n := range 12 {
		if err := try("192.0.2.1:1", "bad"); errors.Is(err, ErrTries) != (n >= triesMost) {
			t.Errorf("try %d: %v", n, err)
		}
		if err := try(fmt.Sprintf("[2001:db8::%x]:1", n+1), "bad"); errors.Is(err, ErrTries) != (n >= triesMost) {
			t.Errorf("try %d of a network: %v", n, err)
		}
	}
	if err := try("192.0.2.1:2", "a token"); err != nil {
		t.Error(err)
	}
	if err := try("192.0.2.2:1", "bad"); !errors.Is(err, ErrToken) {
		t.Error(err)
	}
	now := time.Now()
	if u.tries.take("192.0.2.1/32", now) || !u.tries.take("192.0.2.1/32", now.Add(time.Minute)) {
		t.Error("the minute does not end as it should")
	}
	for n := range clientsMost + 10 {
		u.tries.take(fmt.Sprint(n), now)
	}
	if n := len(u.tries.clients); n > clientsMost || u.tries.take("one more", now) {
		t.Errorf("%d clients are kept", n)
	}
	if !u.tries.take("one more", now.Add(2*time.Minute)) {
		t.Error("the old clients stay")
	}
}

// TestCrossSite: the browser says it, or the origin of the request.
func TestCrossSite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		site, origin string
		cross        bool
	}{
		{"", "", false},
		{"same-origin", "", false},
		{"same-origin", "https://proxy.example", false}, // a proxy has changed Host
		{"none", "", false},
		{"same-site", "", true},
		{"cross-site", "http://example.com", true},
		{"", "http://example.com", false},
		{"", "https://EXAMPLE.com", false},
		{"", "http://example.com:81", true},
		{"", "http://other.example", true},
		{"", "null", true},
		{"", "example.com", true},
	} {
		r := httptest.NewRequest("POST", "http://example.com/act", nil)
		for name, value := range map[string]string{"Sec-Fetch-Site": c.site, "Origin": c.origin} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		if CrossSite(r) != c.cross {
			t.Errorf("%+v", c)
		}
	}
}

// TestLoginLeadsBackToThePage: and to no other site.
func TestLoginLeadsBackToThePage(t *testing.T) {
	t.Parallel()
	for back, want := range map[string]string{
		"/tasks?state=FAIL&group=a%2Fb": "/tasks?state=FAIL&group=a%2Fb", "/": "/", "": "/", "tasks": "/",
		"//evil.example": "/", "/\\evil.example": "/", "/\t/evil.example": "/", "https://evil.example/": "/", "javascript:alert(1)": "/", "/%zz": "/",
	} {
		if got := Local(back, ""); got != want {
			t.Errorf("%q: %q", back, got)
		}
	}
	for back, want := range map[string]string{"/jobs/tasks": "/jobs/tasks", "/jobsx": "/jobs/", "/tasks": "/jobs/"} {
		if got := Local(back, "/jobs"); got != want {
			t.Errorf("%q: %q", back, got)
		}
	}
}
