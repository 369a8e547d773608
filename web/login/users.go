package login

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pgtaskd/conf"
)

// Users are those who may log in. They do not change; any goroutine may use them.
type Users struct {
	all    []member
	tries  *Tries
	path   string // of the cookie
	secure bool   // the cookie goes over TLS only
}

// member is a user with what proves it. Sums have one length, so a comparison tells nothing.
type member struct {
	User
	token [sha256.Size]byte // its sum
	key   []byte            // of the cookies
}

// Errors of who cannot be let in.
var (
	ErrToken = errors.New("no user has this token")
	ErrTries = errors.New("too many wrong tokens from your address: try again in a minute")
)

const (
	cookie  = "pgtaskd"
	keptFor = 12 * time.Hour
)

// New returns the users of a configuration. The cookie is for the page's prefix; secure: the page
// has TLS.
func New(users []conf.User, prefix string, secure bool, tries *Tries) *Users {
	u := &Users{tries: tries, path: prefix + "/", secure: secure}
	for _, one := range users {
		role := Reader
		if one.Operator {
			role = Operator
		}
		key := sha256.Sum256([]byte("cookie of pgtaskd\n" + one.Token))
		u.all = append(u.all, member{User{one.Name, role}, sha256.Sum256([]byte(one.Token)), key[:]})
	}
	return u
}

// None reports that nobody can log in.
func (u *Users) None() bool { return len(u.all) == 0 }

// Who returns the sender of a request: by Authorization: Bearer, else by the cookie. Without users,
// everybody is a Reader.
func (u *Users) Who(r *http.Request) (User, error) {
	if u.None() {
		return User{Role: Reader}, nil
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") { // others may be meant for a proxy
		m, err := u.byToken(r, strings.TrimSpace(token))
		return m.User, err
	}
	for _, c := range r.CookiesNamed(cookie) { // one of another prefix may come too
		if user := u.byCookie(c.Value, time.Now()); user.Role > Nobody {
			return user, nil
		}
	}
	return User{}, nil
}

// Enter logs somebody in: it adds the cookie to an answer.
func (u *Users) Enter(w http.ResponseWriter, r *http.Request, token string) error {
	m, err := u.byToken(r, token)
	if err == nil {
		u.set(w, m.cookie(time.Now().Add(keptFor)), int(keptFor/time.Second))
	}
	return err
}

// Leave logs somebody out.
func (u *Users) Leave(w http.ResponseWriter) { u.set(w, "", -1) }

func (u *Users) set(w http.ResponseWriter, value string, age int) {
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: value, Path: u.path, MaxAge: age, HttpOnly: true, Secure: u.secure, SameSite: http.SameSiteStrictMode})
}

// byToken finds the user of a token. A wrong token counts as a try of the client's address.
func (u *Users) byToken(r *http.Request, token string) (found member, err error) {
	sum := sha256.Sum256([]byte(token))
	for _, m := range u.all { // all of them: the time must not tell who it is
		if subtle.ConstantTimeCompare(sum[:], m.token[:]) == 1 {
			found = m
		}
	}
	switch {
	case found.Role > Nobody:
		return found, nil
	case !u.tries.take(Network(r.RemoteAddr), time.Now()):
		return found, ErrTries
	}
	return found, ErrToken
}

// cookie is the name and the end, proved by the user's token. So it holds after a restart and on
// other controllers, and ends with the token.
func (m *member) cookie(end time.Time) string {
	text := base64.RawURLEncoding.EncodeToString([]byte(m.Name)) + "." + strconv.FormatInt(end.Unix(), 10)
	return text + "." + m.proof(text)
}

func (m *member) proof(text string) string {
	sum := hmac.New(sha256.New, m.key)
	_, _ = sum.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil))
}

func (u *Users) byCookie(value string, now time.Time) (found User) {
	at := strings.LastIndexByte(value, '.')
	if at < 0 {
		return User{}
	}
	text, proof := value[:at], value[at+1:]
	for _, m := range u.all {
		if subtle.ConstantTimeCompare([]byte(m.proof(text)), []byte(proof)) == 1 {
			found = m.User
		}
	}
	name, end, _ := strings.Cut(text, ".")
	until, err := strconv.ParseInt(end, 10, 64)
	if err != nil || now.Unix() >= until || name != base64.RawURLEncoding.EncodeToString([]byte(found.Name)) {
		return User{}
	}
	return found
}
