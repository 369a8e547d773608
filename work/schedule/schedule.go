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

// beats has the beats of a schedule. count and nth are fast for spans of any length.
type beats interface {
	// count counts the beats after one time and not after another.
	count(after, last time.Time) int64
	// nth returns the n-th beat after a time, counted from 1.
	nth(after time.Time, n int64) time.Time
}

// Zone returns the time zone: the expression's own, else the zone given to Parse.
func (s *Schedule) Zone() *time.Location { return s.zone.Location }

// Next returns the first beat after a time.
func (s *Schedule) Next(after time.Time) time.Time { return s.nth(after, 1) }

func (s *Schedule) nth(after time.Time, n int64) time.Time {
	return s.beats.nth(after, n).In(s.zone.Location)
}

// Missed returns the beat that runs after the beat at after. The beats up to now, and not after
// until, were missed. If keep is above 0 and some were missed, the newest keep of them run, and
// first is the oldest of these. Otherwise first is the first beat after the missed ones; @every
// counts from after. skipped counts the beats between after and first. ok is false if first is
// after until. A zero until is no limit.
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

// saturate bounds a number to the range of the column skipped.
func saturate(n int64) int { return int(min(n, math.MaxInt32)) }

// every has the beats of @every: after plus k times the interval, as PostgreSQL adds them.
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

// maxLength is the longest expression, in bytes.
const maxLength = 1024

// Parse reads an expression: five fields, or six with seconds first, or a name with @. CRON_TZ=Zone
// or TZ=Zone may precede it; otherwise location is the zone (nil: UTC). The error is one line that
// says what is wrong, and where. sql/schema/cron.sql accepts the same expressions.
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

// token is a part of an expression.
type token struct {
	text string
	at   int // first character, counted from 1
}

// fault says what is wrong with a token.
func (t token) fault(what, why string) error {
	return fmt.Errorf("%s %s at character %d %s", what, t.shown(), t.at, why)
}

// shown returns the text for messages: in quotes, and cut if it is long.
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

// named has the expressions with a name.
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

// long tells whether an interval is over 1000 years of 360 days, as PostgreSQL compares intervals.
func (i Interval) long() bool {
	days := 30*i.Months + i.Days + i.Micros/(day*second)
	return days > 360_000 || days == 360_000 && i.Micros%(day*second) > 0
}
