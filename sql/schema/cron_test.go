package schema

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgtaskd/major"
	"pgtaskd/sql"
	"pgtaskd/work/schedule"
)

// TestTheServerReadsCronAsTheProgramDoes: both accept the same expressions. For the others the
// server names the field.
func TestTheServerReadsCronAsTheProgramDoes(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	random := rand.New(rand.NewPCG(7, 8))
	exprs := append(fuzzed(t), oddCron...)
	for len(exprs) < 10_000 {
		exprs = append(exprs, randomCron(random))
	}
	wraps := !major.IntervalRange.Of(conn)
	rows, err := conn.Query(t.Context(), "SELECT coalesce(public.pgtaskd_cron(e), '') FROM unnest($1::text[]) WITH ORDINALITY AS x (e, n) ORDER BY n", exprs)
	if err != nil {
		t.Fatal(err)
	}
	accepted, reasons := 0, map[string]int{}
	for i := 0; rows.Next(); i++ {
		var server, program string
		if err := rows.Scan(&server); err != nil {
			t.Fatal(err)
		}
		if _, err := schedule.Parse(exprs[i], time.UTC); err != nil {
			program = err.Error()
		}
		if (server == "") != (program == "") && !(wraps && server == "" && strings.HasSuffix(program, "1000 years are the most")) {
			t.Errorf("%q:\nserver:  %s\nprogram: %s", exprs[i], server, program)
		}
		if server == "" {
			accepted++
		} else {
			reasons[regexp.MustCompile(`"[^"]*"`).ReplaceAllString(server, "")]++
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if accepted < 1200 || len(reasons) < 12 {
		t.Errorf("%d accepted, %d reasons: the test shows little", accepted, len(reasons))
	}
}

// oddCron are edge cases.
var oddCron = []string{
	"", " ", "\t\r\n", "* * * *", "* * * * *", "* * * * * *", "* * * * * * *", " * * * * * \n", "*\t*\r*\n* *", "é * * * *", "* * * * é", "* * \x1b * *", ", * * * *", ",,,, * * * *",
	"*-5 * * * *", "+1 * * * *", "-1 * * * *", "1-2-3 * * * *", "1/2/3 * * * *", "999999999 * * * *", "9999999999 * * * *", "00 00 01 01 00", "000000001 * * * *", "0 0 ? * *", "0 0 L * L", "0 0 l * *",
	"0 0 L,L * *", "0 0 L,30 2 *", "0 0 30 2 *", "0 0 30 2 1", "0 0 30 2 */1", "0 0 31 2-4/2,6,9 *", "0 0 31 apr,jun,sep,nov *", "0 0 29 2 *", "0 0 31 */2 *", "0 0 * * sun-sun", "0 0 * * sat-sun", "0 0 * * 7-sun",
	"0 0 * * 7-1", "0 0 * * 0-7", "0 0 * * 7/2", "0 0 * * */7", "0 0 * * */8", "0 0 * JAN-Dec FRI-SUN", "0 0 * dec-jan *", "0 0 * 0 *", "0 0 * 13 *", "* 24 * * *", "60 * * * *", "* * 32 * *", "* * 0 * *",
	"TZ=", "TZ=UTC", "TZ=X", "CRON_TZ=UTC * * * * *", "TZ=UTC\t* * * * *", "tz=UTC * * * * *", "TZ=UTC TZ=UTC * * * * *", "TZ=utc * * * * *", "TZ=Europe/Berlin @daily", "TZ=europe/berlin @daily",
	"TZ=EUROPE/BERLIN @daily", "TZ=EST @daily", "TZ=MST @daily", "TZ=CET @daily", "TZ=CEST @daily", "TZ=EST5EDT @daily", "TZ=PST8PDT,M3.2.0,M11.1.0 @daily", "TZ=<+03>-3 @daily", "TZ=Foo/Bar5 @daily",
	"TZ=Foo/Bar-5 @daily", "TZ=Foo/Bar @daily", "TZ=America @daily", "TZ=America/ @daily", "TZ=America/Argentina @daily", "TZ=America/Argentina/Buenos_Aires @daily", "TZ=America/Port-au-Prince @daily",
	"TZ=posix/Europe/Berlin @daily", "TZ=right/Europe/Berlin @daily", "TZ=Posix/Europe/Berlin @daily", "TZ=localtime @daily", "TZ=posixrules @daily", "TZ=Local @daily", "TZ=Factory @daily", "TZ=Japan @daily", "TZ=JAPAN @daily", "TZ=PRC @daily", "TZ=PST @daily", "TZ=PST8PDT @daily", "TZ=EST4EDT @daily", "TZ=GB-Eire @daily", "TZ=NZ-CHAT @daily", "TZ=GMT- @daily", "TZ=GMT1 @daily",
	"TZ=Etc/GMT+5 @daily", "TZ=Etc/GMT+12 @daily", "TZ=Etc/GMT+13 @daily", "TZ=Etc/GMT-14 @daily", "TZ=Etc/GMT-15 @daily", "TZ=Etc/GMT0 @daily", "TZ=Etc/GMT+0 @daily", "TZ=GMT+0 @daily", "TZ=GMT @daily", "TZ=Z @daily",
	"TZ=../UTC @daily", "TZ=/etc/localtime @daily", "TZ=Europe//Berlin @daily", "TZ='UTC' @daily", "TZ=+02:00 @daily", "TZ=02:00 @daily", "TZ=DEFAULT @daily", "TZ=interval @daily",
	"@reboot", "@Daily", "@daily x", "@", "@yearly", "@annually", "@monthly", "@weekly", "@midnight", "@hourly", "@every", "@every ", "@every 0", "@every 0 s", "@every 1", "@every 1.5", "@every 1.", "@every -1 s",
	"@every 1 s ago", "@every 1 fortnight", "@every 1h30m", "@every 1h30 m", "@every 163 h0 s", "@every 1h 30m", "@every 1h30.5m", "@every 1min30s", "@every 1d1h1m1s", "@every 1y2d", "@every 1w2d", "@every 1 day 12:30", "@every 1day12:30", "@every 12:30",
	"@every 12:60", "@every 1 h 12:30", "@every 1 us 00:00:01", "@every 1 mon 00:00:01.5", "@every P1D", "@every p1d", "@every P", "@every PT", "@every P1DT", "@every P1Y2M3W4DT5H6M7.5S", "@every PT0.0000001S",
	"@every PT0.0000010S", "@every P1.5D", "@every 1.5 months", "@every 1.0 month", "@every 1.5 y", "@every 1.5 d", "@every 1.5 weeks", "@every 0.5 us", "@every 0.0 us", "@every 1.0 us", "@every 0.001 ms", "@every 0.0001 ms",
	"@every 0.0000001 s", "@every 0.0000001 h", "@every 0.000001 h", "@every 1 s 1 sec", "@every 1.0 s 1 ms", "@every 1.5 s 1 us", "@every 1 s 1 ms", "@every 1000 years", "@every 1001 years", "@every 12000 mons 1 us",
	"@every 360000 days", "@every 360000 days 1 us", "@every 8640000 h", "@every 2147483647 s", "@every 2147483648 s", "@every 99999999999 us", "@every 2147483647 mil", "@every 1 mil", "@every 1 millennium", "@every 1 milli",
	"@every 1 century", "@every 10 c", "@every 11 c", "@every 1 decade 2 decs", "@every 1 s\t1 min", "@every 1\n s", "@every  1  s  ", "@every 1 S", "@every 1 MINUTE", "@every 1e3 s", "@every 1 day 1", "@every s", "@every now",
	"@every infinity", "@every 1-2", "@every 1 2:3", "@every 0.1 mil", "@every 0.1 millis", "@every 1.1 milliseconds", "@every 1.1 decades", "@every 1.1 cents",
	strings.Repeat("1,", 511) + "1 * * *", strings.Repeat("x", 1025), strings.Repeat("x", 1<<20), strings.Repeat("é", 513), strings.Repeat("x", 40) + " * * * *", "0 0 31 4,6,9,11,4,6,9,11,4,6,9,11,4,6,9,11,4 *",
}

// fuzzed returns the first arguments of the cases that fuzz tests of the package have found.
func fuzzed(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../work/schedule/testdata/fuzz/*/*")
	if err != nil {
		t.Fatal(err)
	}
	var exprs []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(string(text), "\n") {
			quoted, is := strings.CutPrefix(line, "string(")
			if expr, err := strconv.Unquote(strings.TrimSuffix(quoted, ")")); is && err == nil && !strings.Contains(expr, "\x00") && strings.ToValidUTF8(expr, "") == expr {
				exprs = append(exprs, expr)
			}
		}
	}
	return exprs
}

// randomCron returns an expression that is right, or nearly right.
func randomCron(r *rand.Rand) string {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	zone := pick("", "", "", "", "", "TZ=UTC ", "CRON_TZ=Europe/Berlin ", "TZ=Asia/Kathmandu  ", "TZ=EST ", "TZ=Nowhere/At_All ", "TZ=Etc/GMT-"+strconv.Itoa(r.IntN(20))+" ")
	if r.IntN(5) == 0 {
		var b strings.Builder
		units := strings.Fields("us ms s m h d w mon y usec msec sec min hr days week month years decade century mil secs ago x")
		for range 1 + r.IntN(3) {
			fmt.Fprintf(&b, "%d%s%s%s%s", r.Int64N(int64(1)<<(1+r.IntN(33))), pick("", "", "", "", ".5", ".25", ".0", ".0001", ".0000001"), pick("", " ", " ", "  "), pick(units...), pick(" ", " ", " ", ""))
		}
		b.WriteString(pick("", "", "", "12:30", "00:00:05.5", "1:70"))
		return zone + pick("@every ", "@every ", "@every  ", "@every") + b.String()
	}
	fields := []string{cronField(r, 0, 59, ""), cronField(r, 0, 23, ""), cronField(r, 1, 31, ""), cronField(r, 1, 12, "jan FEB mar apr May jun jul aug sep oct nov dec"), cronField(r, 0, 7, "sun mon TUE wed thu fri sat")}
	switch r.IntN(12) {
	case 0:
		fields = fields[:4]
	case 1, 2:
		fields = append([]string{cronField(r, 0, 59, "")}, fields...)
	case 3:
		fields = append(fields, fields[:2]...)
	}
	text := []byte(zone + strings.Join(fields, pick(" ", " ", "  ", "\t", "\n")))
	if r.IntN(6) == 0 {
		text[r.IntN(len(text))] = pick(",", "-", "/", "*", "?", "L", "#", " ", "z", "9", "'", `\`)[0]
	}
	return string(text)
}

func cronField(r *rand.Rand, least, most int, names string) string {
	value := func() string {
		n := least + r.IntN(most-least+1)
		if name := strings.Fields(names); r.IntN(3) == 0 && n-least < len(name) {
			return name[n-least]
		}
		return strconv.Itoa(n + r.IntN(30)/29*60)
	}
	var items []string
	for range 1 + r.IntN(8)/7 {
		items = append(items, []string{"*", "*", "*/" + strconv.Itoa(r.IntN(most+3)), value(), value() + "-" + value(), value() + "-" + value() + "/2", value() + "/3", "L"}[r.IntN(7+r.IntN(2))])
	}
	return strings.Join(items, ",")
}

// TestCronIsReadAtOnce: an INSERT waits for it.
func TestCronIsReadAtOnce(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	for _, expr := range []string{"0 3 * * *", "CRON_TZ=Europe/Berlin */5 9-17 * * mon-fri", "@every 1 hour 30 min"} {
		fastest := time.Hour
		for range 3 {
			began := time.Now()
			execute(t, conn, "SELECT public.pgtaskd_cron("+sql.Literal(expr)+") FROM generate_series(1, 100)")
			fastest = min(fastest, time.Since(began)/100)
		}
		if fastest > 10*time.Millisecond { // on an idle machine it takes half a millisecond
			t.Errorf("%s takes %v", expr, fastest)
		}
		t.Log(expr, fastest)
	}
}

// TestCronLeavesTheSessionAlone: afterwards the session has its own zone; no object of its search
// path is called.
func TestCronLeavesTheSessionAlone(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	execute(t, conn, "SET TimeZone = 'Asia/Tokyo'; SET standard_conforming_strings = off; SET IntervalStyle = sql_standard; SET search_path = ''")
	cron := "public.pgtaskd_cron"
	equal(t, "of a zone", value(t, conn, "SELECT coalesce("+cron+"('TZ=Europe/Berlin @daily'), 'fine')"), "fine")
	equal(t, "of an interval", value(t, conn, "SELECT coalesce("+cron+"('@every 1 day 2 hours'), 'fine')"), "fine")
	equal(t, "of no zone", value(t, conn, "SELECT "+cron+"('TZ=Europe/Berlln @daily')"), `time zone "Europe/Berlln" is not known: a zone is a name of the tz database, such as Europe/Berlin`)
	equal(t, "zone", value(t, conn, "SELECT current_setting('TimeZone')"), "Asia/Tokyo")
	equal(t, "of nothing", value(t, conn, "SELECT "+cron+"(NULL) IS NULL"), "true")
}

// TestEveryInserterMayHaveCronRead, even if default privileges keep new functions from others.
func TestEveryInserterMayHaveCronRead(t *testing.T) {
	t.Parallel()
	conn := database(t)
	role := stranger(t, conn, "cron")
	execute(t, conn, "ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC")
	install(t, conn, task, nil)
	// A user's function.
	execute(t, conn, "CREATE FUNCTION public.pgtaskd_cron(text, int) RETURNS text LANGUAGE sql AS 'SELECT $1'")
	install(t, conn, task, nil)
	execute(t, conn, "SET ROLE "+role)
	equal(t, "of nothing", value(t, conn, "SELECT public.pgtaskd_cron('') "), "cron has 0 fields: there are 5, or 6 with seconds first")
	execute(t, conn, "RESET ROLE")
}
