package schedule

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	robfig "github.com/robfig/cron/v3"
)

func TestWrongExpressionsAreRefusedWithTheirPlace(t *testing.T) {
	t.Parallel()
	forms := " is not *, a number, a range such as 1-5, or a step such as */2"
	domForms := " is not *, a number, a range such as 1-5, a step such as */2, or L"
	zones := " is not known: a zone is a name of the tz database, such as Europe/Berlin"
	for expr, want := range map[string]string{
		"":                                   "cron is empty",
		" \t\r\n":                            "cron is empty",
		strings.Repeat("*", 1025):            "cron is longer than 1 kB",
		strings.Repeat("x", 1<<20):           "cron is longer than 1 kB",
		"* * * * \u00a0*":                    "cron has a character that is not plain ASCII at character 9",
		"é* * * * *":                         "cron has a character that is not plain ASCII at character 1",
		"* * \x1b[31m * *":                   "cron has a character that is not plain ASCII at character 5",
		"* * \xff * *":                       "cron has a character that is not plain ASCII at character 5",
		"* * * * \x00":                       "cron has a character that is not plain ASCII at character 9",
		"* * * *":                            "cron ends at character 8 after 4 fields: there are 5, or 6 with seconds first",
		"* * * * * * *":                      `text "*" at character 13 follows 6 fields`,
		"TZ=UTC":                             "cron ends at character 7 after 0 fields: there are 5, or 6 with seconds first",
		"60 * * * *":                         `minute "60" at character 1 is not from 0 to 59`,
		"1,2,x * * * *":                      `minute "x" at character 5` + forms,
		", * * * *":                          `minute "" at character 1` + forms,
		",,,, * * * *":                       `minute "" at character 1` + forms,
		"1, * * * *":                         `minute "" at character 3` + forms,
		"* 5-3 * * *":                        `hour "5-3" at character 3 runs backwards`,
		"* 24 * * *":                         `hour "24" at character 3 is not from 0 to 23`,
		"* 99999999999 * * *":                `hour "99999999999" at character 3` + forms,
		"* * 0 * *":                          `day of month "0" at character 5 is not from 1 to 31`,
		"* * L-3 * *":                        `day of month "L-3" at character 5` + domForms,
		"* * ? * *":                          `day of month "?" at character 5` + domForms,
		"* * * foo *":                        `month "foo" at character 7 is not *, a number, a name such as jan, a range such as 1-5, or a step such as */2`,
		"* * * * 8":                          `day of week "8" at character 9 is not from 0 to 7`,
		"* * * * L":                          `day of week "L" at character 9 is not *, a number, a name such as sun, a range such as 1-5, or a step such as */2`,
		"*/0 * * * *":                        `minute "*/0" at character 1 has a step that is not from 1 to 59`,
		"*/60 * * * *":                       `minute "*/60" at character 1 has a step that is not from 1 to 59`,
		"*/ * * * *":                         `minute "*/" at character 1` + forms,
		"*-5 * * * *":                        `minute "*-5" at character 1` + forms,
		"+5 * * * *":                         `minute "+5" at character 1` + forms,
		"-5 * * * *":                         `minute "-5" at character 1` + forms,
		"1-2-3 * * * *":                      `minute "1-2-3" at character 1` + forms,
		"1/2/3 * * * *":                      `minute "1/2/3" at character 1` + forms,
		"x 60 * * * *":                       `second "x" at character 1` + forms,
		strings.Repeat("x", 50) + " ":        "cron ends at character 52 after 1 field: there are 5, or 6 with seconds first",
		strings.Repeat("x", 50) + " 1 1 1 1": `minute "` + strings.Repeat("x", 27) + `..." at character 1` + forms,
		"0 0 30 2 *":                         `day of month "30" at character 5 never comes in month "2"`,
		"0 0 31 2,4,6,9,11 *":                `day of month "31" at character 5 never comes in month "2,4,6,9,11"`,
		"0 0 30,31 feb */2":                  `day of month "30,31" at character 5 never comes in month "feb"`,
		"TZ=":                                `time zone "" at character 4` + zones,
		"TZ= * * * * *":                      `time zone "" at character 4` + zones,
		"TZ=X":                               `time zone "X" at character 4` + zones,
		"CRON_TZ=Europe/Berlln 0 0 * * *":    `time zone "Europe/Berlln" at character 9` + zones,
		"@reboot":                            `name "@reboot" at character 1 is no time: insert a task when the server starts`,
		"@daily x":                           `text "x" at character 8 follows a name, which stands alone`,
		"@fortnightly":                       `name "@fortnightly" at character 1 is not known: there are @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly and @every INTERVAL`,
		"@every":                             `name "@every" at character 1 needs an interval, such as @every 90 s, @every 1 hour or @every 1 month`,
		"@every 1\nfoo":                      `interval "1 foo" at character 8 is not understood: 90 s, 1 hour 30 min, 1 day or 1 month would be`,
		"@every -1 s":                        `interval "-1 s" at character 8 is not understood: 90 s, 1 hour 30 min, 1 day or 1 month would be`,
		"@every 0 s":                         `interval "0 s" at character 8 must be above 0`,
		"@every 90":                          `interval "90" at character 8 is not understood: 90 s, 1 hour 30 min, 1 day or 1 month would be`,
		"TZ=UTC @every 1001 years":           `interval "1001 years" at character 15 is too long: 1000 years are the most`,
	} {
		if _, err := Parse(expr, time.UTC); err == nil || err.Error() != want {
			t.Errorf("%.60q:\n got %v\nwant %s", expr, err, want)
		}
	}
}

func TestOnlyNamesOfTheTzDatabaseAreZones(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"UTC", "GMT", "Europe/Berlin", "America/Port-au-Prince", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "Etc/GMT-14", "Etc/GMT0", "Etc/UTC", "US/Eastern",
		"Japan", "PRC", "EST", "CET", "EST5EDT", "GB-Eire", "W-SU", "NZ-CHAT", "Zulu", "GMT0", "GMT+0", "GMT-0",
	} {
		if s, err := Parse("CRON_TZ="+name+" 0 0 * * *", time.Local); err != nil || s.Zone().String() != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{
		"", "X", "CEST", "PST", "EST5", "EST4EDT", "Local", "localtime", "posixrules", "japan", "JAPAN", "GMT1", "GMT+5", "PST8PDT,M3.2.0,M11.1.0", "<+03>-3", "Europe/Berlin5", "Foo/Bar5",
		"posix/Europe/Berlin", "right/Europe/Berlin", "/etc/localtime", "../zoneinfo/UTC", "Europe/../UTC", "Europe//Berlin", "Europe", "Europe/", "europe/berlin", "EUROPE/BERLIN", "Etc/GMT+13",
		"Etc/GMT-15", "Etc/GMT+05", "utc", "UTC0", "America", "GMT-", "America/Argentina", "Europe/Berlin\\", "Z", "+02:00", "Nowhere/At_All",
	} {
		if _, err := Parse("CRON_TZ="+name+" 0 0 * * *", time.UTC); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// It changes time.Local, so it is not parallel.
func TestTheZoneOfTheMachineIsAZone(t *testing.T) {
	before := time.Local
	defer func() { time.Local = before }()
	for _, name := range []string{"UTC", "Europe/Berlin"} { // as after TZ=Europe/Berlin
		time.Local = zoneOf(t, name)
		if _, err := LoadZone(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := LoadZone("Local"); err == nil {
			t.Error("Local is accepted in ", name)
		}
	}
}

func TestTheZoneOfTheExpressionWins(t *testing.T) {
	t.Parallel()
	berlin := zoneOf(t, "Europe/Berlin")
	for expr, want := range map[string]string{"@daily": "Europe/Berlin", "TZ=UTC @daily": "UTC", " CRON_TZ=Asia/Tokyo\t0 0 * * *": "Asia/Tokyo", "TZ=UTC @every 1 h": "UTC"} {
		if s, err := Parse(expr, berlin); err != nil || s.Zone().String() != want {
			t.Errorf("%q: %v", expr, err)
		}
	}
	if s, err := Parse("@daily", nil); err != nil || s.Zone() != time.UTC {
		t.Error("without a zone it is not UTC:", err)
	}
}

// TestEquals: both ways to write an expression mean the same.
func TestEquals(t *testing.T) {
	t.Parallel()
	for one, other := range map[string]string{
		"@yearly": "0 0 1 1 *", "@annually": "0 0 0 1 jan *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 7", "@daily": "0 0 * * *", "@midnight": "00 00 * * *", "@hourly": "0 * * * *",
		"0 0 * * sun": "0 0 * * 0", "0 0 * * 5-7": "0 0 * * 0,5,6", "0 0 * * fri-sun": "0 0 * * FRI,Sat,sUn", "0 0 * * 0-7": "0 0 * * *", "0 0 * * 1-7/2": "0 0 * * 0,1,3,5", "0 0 * * 1/2": "0 0 * * 1,3,5",
		"0 0 * * 7/2": "0 0 * * 0", "0 0 * * */7": "0 0 * * sun-sun", "5/20 * * * *": "5,25,45 * * * *", "0 0 * jan-mar *": "0 0 * 1,2,3 *", "0 0 L * *": "0 0 L,L * *",
		"\n* *  *\t* *\r\n": "0 * * * * *",
	} {
		a, err := Parse(one, time.UTC)
		b, err2 := Parse(other, time.UTC)
		if err != nil || err2 != nil {
			t.Error(one, err, other, err2)
			continue
		}
		x, y := a.beats.(cron), b.beats.(cron)
		x.days.either, y.days.either = false, false
		if x.days != y.days || x.clock != y.clock {
			t.Errorf("%s is not %s", one, other)
		}
	}
}

// TestReadsAsRobfigDoes: if robfig/cron is right about an expression, both find the same times.
func TestReadsAsRobfigDoes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	parser := robfig.NewParser(robfig.SecondOptional | robfig.Minute | robfig.Hour | robfig.Dom | robfig.Month | robfig.Dow)
	compared := 0
	for range 10_000 {
		expr := randomExpression(random)
		theirs, err := parser.Parse(expr)
		if err != nil || strings.ContainsAny(expr, "L7/") || strings.Contains(expr, ",*") {
			continue
		}
		ours, err := Parse(expr, time.UTC)
		if err != nil {
			continue
		}
		at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
		for range 3 {
			want := theirs.Next(at)
			got := ours.Next(at)
			if want.IsZero() {
				break
			}
			if !got.Equal(want) {
				t.Fatalf("%s after %v: %v, not %v", expr, at, got, want)
			}
			at = got
		}
		compared++
	}
	if compared < 300 {
		t.Errorf("only %d are compared", compared)
	}
}

func zoneOf(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}
