package schedule

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"sort"
	"strings"
	"time"
)

// Schedule is a parsed expression in its time zone.
type Schedule struct {
	zone  zone
	beats beats
}

// beats are the moments of a schedule. Times are seconds since 1970; count and nth may be asked for
// any span, however long.
type beats interface {
	// count tells how many beats lie after one time and not after another.
	count(after, last time.Time) int64
	// nth is the n-th beat after a time, counted from 1.
	nth(after time.Time, n int64) time.Time
}

// Zone is the time zone: the expression's own, else the one given to Parse.
func (s *Schedule) Zone() *time.Location { return s.zone.Location }

// Next is the first beat after a time.
func (s *Schedule) Next(after time.Time) time.Time { return s.nth(after, 1) }

func (s *Schedule) nth(after time.Time, n int64) time.Time {
	return s.beats.nth(after, n).In(s.zone.Location)
}

// Missed tells what runs after the beat at after, when it is now. Of the beats up to now, and not
// after until, the newest keep run: first is the oldest of them. If keep is 0, or none was missed,
// it is the first beat after now; @every counts from after. skipped counts the beats between after
// and first. Without a first beat, or if that is after until, ok is false. A zero until is no
// limit.
func (s *Schedule) Missed(after, now, until time.Time, keep int) (first time.Time, skipped int, ok bool) {
	last := now
	if !until.IsZero() && until.Before(now) {
		last = until
	}
	missed := s.beats.count(after, last)
	if keep > 0 && missed > 0 {
		passed := max(0, missed-int64(keep))
		return s.nth(after, passed+1), saturate(passed), true
	}
	first = s.nth(after, missed+1)
	if !until.IsZero() && first.After(until) {
		return time.Time{}, saturate(missed), false
	}
	return first, saturate(missed), true
}

// saturate keeps a number within what the column skipped can hold.
func saturate(n int64) int { return int(min(n, math.MaxInt32)) }

// every are the beats of @every: after + k times the interval, as PostgreSQL adds them up.
type every struct {
	interval Interval
	zone     zone
}

func (e every) nth(after time.Time, n int64) time.Time {
	return e.zone.add(after, e.interval, n)
}

const most = 1 << 62

func (e every) count(after, last time.Time) int64 {
	top := int64(1)
	for ; top < most && !e.nth(after, top).After(last); top *= 2 {
	}
	return int64(sort.Search(int(top), func(n int) bool { return e.nth(after, int64(n)+1).After(last) }))
}

// maxLength is the greatest length of an expression, in bytes.
const maxLength = 1024

// Parse reads an expression: five fields, or six with seconds first, or a name with @, all perhaps
// with CRON_TZ=Zone or TZ=Zone before it. location holds unless the expression names a zone. The
// error is one line that says what is wrong and where; sql/schema/cron.sql accepts the same.
func Parse(expr string, location *time.Location) (*Schedule, error) {
	if len(expr) > maxLength {
		return nil, errors.New("cron is longer than 1 kB")
	}
	for i, r := range []rune(expr) {
		if !strings.ContainsRune(" \t\r\n", r) && (r <= ' ' || r > '~') {
			return nil, fmt.Errorf("cron has a character that is not plain ASCII at character %d", i+1)
		}
	}
	expr = blanks.Replace(expr)
	tokens := tokenize(expr)
	if len(tokens) == 0 {
		return nil, errors.New("cron is empty")
	}
	if m := zonePrefix.FindString(tokens[0].text); m != "" {
		name := token{tokens[0].text[len(m):], tokens[0].at + len(m)}
		own, err := LoadZone(name.text)
		if err != nil {
			return nil, name.fault("time zone", err.Error())
		}
		tokens, location = tokens[1:], own
	}
	if location == nil {
		location = time.UTC
	}
	s := &Schedule{zone: zone{location}}
	var err error
	switch {
	case len(tokens) > 0 && tokens[0].text == "@every":
		s.beats, err = parseEvery(expr, tokens, s.zone)
	case len(tokens) > 0 && strings.HasPrefix(tokens[0].text, "@"):
		s.beats, err = parseName(tokens, s.zone)
	default:
		s.beats, err = parseFields(expr, tokens, s.zone)
	}
	return s, err
}

var zonePrefix = regexp.MustCompile(`^(?:CRON_)?TZ=`)

// A token is a part of an expression, and at which character it begins, counted from 1.
type token struct {
	text string
	at   int
}

// fault says what is wrong with a token.
func (t token) fault(what, why string) error {
	return fmt.Errorf("%s %s at character %d %s", what, t.shown(), t.at, why)
}

// shown is the text as messages have it: in quotes, and cut if it is long.
func (t token) shown() string {
	if len(t.text) > 30 {
		return `"` + t.text[:27] + `..."`
	}
	return `"` + t.text + `"`
}

var (
	blanks   = strings.NewReplacer("\t", " ", "\r", " ", "\n", " ")
	notBlank = regexp.MustCompile(`[^ ]+`)
)

func tokenize(expr string) []token {
	var tokens []token
	for _, place := range notBlank.FindAllStringIndex(expr, -1) {
		tokens = append(tokens, token{expr[place[0]:place[1]], place[0] + 1})
	}
	return tokens
}

// named are the expressions that have a name.
var named = map[string]string{
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
	"@monthly":  "0 0 1 * *",
	"@weekly":   "0 0 * * 0",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@hourly":   "0 * * * *",
}

func parseName(tokens []token, z zone) (beats, error) {
	expr, ok := named[tokens[0].text]
	switch {
	case tokens[0].text == "@reboot":
		return nil, tokens[0].fault("name", "is no time: insert a task when the server starts")
	case !ok:
		return nil, tokens[0].fault("name", "is not known: there are @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly and @every INTERVAL")
	case len(tokens) > 1:
		return nil, tokens[1].fault("text", "follows a name, which stands alone")
	}
	return parseFields(expr, tokenize(expr), z)
}

// pairs are numbers with their units, or seconds with a fraction.
var pairs = regexp.MustCompile(`^([0-9]{1,9} *([A-Za-z]+( +|$)|[dhmsyDHMSY]))+$|^[0-9]{1,9}[.][0-9]{1,6} *[Ss]$`)

func parseEvery(expr string, tokens []token, z zone) (beats, error) {
	if len(tokens) == 1 {
		return nil, tokens[0].fault("name", "needs an interval, such as @every 90 s, @every 1 hour or @every 1 month")
	}
	end := tokens[len(tokens)-1]
	text := token{expr[tokens[1].at-1 : end.at-1+len(end.text)], tokens[1].at}
	interval, err := ParseInterval(text.text)
	switch {
	case !pairs.MatchString(text.text), err != nil && !errors.Is(err, ErrTooLong):
		return nil, text.fault("interval", "is not understood: 90 s, 1 hour 30 min, 1 day or 1 month would be")
	case err != nil, interval.long():
		return nil, text.fault("interval", "is too long: 1000 years are the most")
	case interval == Interval{}:
		return nil, text.fault("interval", "must be above 0")
	}
	return every{interval, z}, nil
}

// long tells whether an interval is over 1000 years, of which each has 360 days, as PostgreSQL
// compares intervals.
func (i Interval) long() bool {
	days := 30*i.Months + i.Days + i.Micros/(day*second)
	return days > 360_000 || days == 360_000 && i.Micros%(day*second) > 0
}
