package schedule

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	robfig "github.com/robfig/cron/v3"
)

// field is one field of an expression.
type field struct {
	name  string
	least int
	most  int
	names string // names of the values, in order
}

var fields = []field{
	{"second", 0, 59, ""},
	{"minute", 0, 59, ""},
	{"hour", 0, 23, ""},
	{"day of month", 1, 31, ""},
	{"month", 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"},
	{"day of week", 0, 7, "sun mon tue wed thu fri sat"},
}

const (
	hourField  = 2
	domField   = 3
	monthField = 4
	dowField   = 5
)

// parseFields reads five or six fields. expr is their text.
func parseFields(expr string, tokens []token, z zone) (beats, error) {
	switch {
	case len(tokens) < 5:
		plural := "s"
		if len(tokens) == 1 {
			plural = ""
		}
		return nil, fmt.Errorf("cron ends at character %d after %d field%s: there are 5, or 6 with seconds first",
			len(expr)+1, len(tokens), plural)
	case len(tokens) > 6:
		return nil, tokens[6].fault("text", "follows 6 fields")
	case len(tokens) == 5:
		tokens = append([]token{{"0", 0}}, tokens...)
	}
	texts := make([]string, len(fields))
	for i, f := range fields {
		items, err := f.items(tokens[i])
		if err != nil {
			return nil, err
		}
		texts[i] = strings.Join(items, ",")
	}
	read, err := reader.Parse(strings.Join(texts, " "))
	if err != nil {
		return nil, err
	}
	spec := read.(*robfig.SpecSchedule)
	last := slices.Contains(strings.Split(tokens[domField].text, ","), lastDay)
	star := func(i int) bool { return tokens[i].text[0] == '*' }
	d := days{dom: spec.Dom, month: spec.Month, dow: spec.Dow, last: last, either: !star(domField) && !star(dowField)}
	if !d.come() {
		return nil, tokens[domField].fault("day of month", "never comes in month "+tokens[monthField].shown())
	}
	return cron{d, clock{spec.Second, spec.Minute, spec.Hour}, z, star(hourField)}, nil
}

var reader = robfig.NewParser(robfig.Second | robfig.Minute | robfig.Hour | robfig.Dom | robfig.Month | robfig.Dow)

// lastDay means the last day of the month.
const lastDay = "L"

var itemForm = regexp.MustCompile(`^(?:\*|([0-9]{1,9}|[A-Za-z]+)(?:-([0-9]{1,9}|[A-Za-z]+))?)(?:/([0-9]{1,9}))?$`)

// items checks a field's list, and returns its items with numbers in place of names.
func (f field) items(t token) (items []string, err error) {
	at := t.at
	for text := range strings.SplitSeq(t.text, ",") {
		item := token{text, at}
		at += len(text) + 1
		if text == lastDay && f.name == fields[domField].name {
			items = append(items, "31")
			continue
		}
		some, err := f.item(item)
		if err != nil {
			return nil, err
		}
		items = append(items, some...)
	}
	return items, nil
}

// item checks one item of a list, and returns it in a form that robfig/cron reads correctly. That
// library knows Sunday only as 0.
func (f field) item(t token) (items []string, err error) {
	m := itemForm.FindStringSubmatch(t.text)
	if m == nil {
		return nil, t.fault(f.name, f.forms())
	}
	low, high, step := f.least, f.most, 1
	if f.name == fields[dowField].name {
		high = 6
	}
	for i, value := range []*int{&low, &high} {
		if m[i+1] == "" {
			continue
		}
		var known bool
		if *value, known = f.value(m[i+1]); !known {
			return nil, t.fault(f.name, f.forms())
		}
		if *value < f.least || *value > f.most {
			return nil, t.fault(f.name, fmt.Sprintf("is not from %d to %d", f.least, f.most))
		}
	}
	if m[2] == "" && (m[1] != "" && m[3] == "" || low > high) {
		high = low
	}
	if f.names != "" && strings.EqualFold(m[2], "sun") && low > 0 {
		high = 7
	}
	if low > high {
		return nil, t.fault(f.name, "runs backwards")
	}
	if m[3] != "" {
		if step, _ = strconv.Atoi(m[3]); step < 1 || step > f.most {
			return nil, t.fault(f.name, fmt.Sprintf("has a step that is not from 1 to %d", f.most))
		}
	}
	if high < 7 || f.name != fields[dowField].name {
		return []string{fmt.Sprintf("%d-%d/%d", low, high, step)}, nil
	}
	for day := low; day <= high; day += step {
		items = append(items, strconv.Itoa(day%7))
	}
	return items, nil
}

// value returns the number that a text means: a number or a name.
func (f field) value(text string) (int, bool) {
	if n, err := strconv.Atoi(text); err == nil {
		return n, true
	}
	for i, name := range strings.Fields(f.names) {
		if strings.EqualFold(name, text) {
			return i + f.least, true
		}
	}
	return 0, false
}

// forms says what a field may hold.
func (f field) forms() string {
	switch {
	case f.name == fields[domField].name:
		return "is not *, a number, a range such as 1-5, a step such as */2, or L"
	case f.names != "":
		first, _, _ := strings.Cut(f.names, " ")
		return "is not *, a number, a name such as " + first + ", a range such as 1-5, or a step such as */2"
	}
	return "is not *, a number, a range such as 1-5, or a step such as */2"
}
