package login

import (
	"net/http"
	"net/url"
	"strings"
	"unicode"
)

// CrossSite reports whether another site has made a browser send the request.
func CrossSite(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site != "same-origin" && site != "none"
	}
	origin := r.Header.Get("Origin") // of a browser that sends no Sec-Fetch-Site: it does not over plain HTTP
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host)
}

// Local returns a URL if it is a path of the page, else the page's first one. Browsers read
// backslashes as slashes and skip control characters.
func Local(back, prefix string) string {
	u, err := url.Parse(back)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(back, prefix+"/") || strings.HasPrefix(back, "//") ||
		strings.ContainsFunc(back, func(r rune) bool { return r == '\\' || unicode.IsControl(r) }) {
		return prefix + "/"
	}
	return back
}
