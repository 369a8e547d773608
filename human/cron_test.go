package human

import "testing"

// TestCronInWords: what has no words is shown as the expression.
func TestCronInWords(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"* * * * *":           "every minute",
		"*/5 * * * *":         "every 5 minutes",
		"*/7 * * * *":         "",
		"0 * * * *":           "every hour",
		"5 * * * *":           "every hour at :05",
		"0 */2 * * *":         "every 2 hours",
		"15 */6 * * *":        "every 6 hours at :15",
		"0 3 * * 1-5":         "at 03:00 on weekdays",
		"0 3 * * mon-fri":     "at 03:00 on weekdays",
		"30 15,3 * * *":       "at 03:30 and 15:30 every day",
		"0 3 * * 0":           "at 03:00 on Sundays",
		"0 3 * * 7":           "at 03:00 on Sundays",
		"0 3 * * MON,WED,FRI": "at 03:00 on Mondays, Wednesdays and Fridays",
		"0 3 * * 6,0":         "at 03:00 on Saturdays and Sundays",
		"0 3 * * 2-4":         "at 03:00 from Tuesday to Thursday",
		"0 0 1 * *":           "at 00:00 on day 1 of the month",
		"0 0 L * *":           "at 00:00 on the last day of the month",
		"0 0 1,15 * *":        "at 00:00 on day 1 and 15 of the month",
		"0 0 1 jan,jul *":     "at 00:00 on day 1 in January and July",
		"0 6 * 12 *":          "at 06:00 every day in December",
		"*/10 8-17 * * 1-5":   "every 10 minutes from 08:00 to 17:59 on weekdays",
		"0 8-17 * * *":        "every hour from 08:00 to 17:00",
		"*/10 * * * * *":      "every 10 seconds",
		"0 0 3 * * *":         "at 03:00 every day",
		"30 0 3 * * *":        "",
		"0 0 1 * 1":           "",
		"1-5 * * * *":         "",
		"@daily":              "at 00:00 every day",
		"@yearly":             "at 00:00 on day 1 in January",
		"@weekly":             "at 00:00 on Sundays",
		"@every 1 hour":       "every 1 hour",
		"@reboot":             "",
		"":                    "",
		"x y z":               "",
		"*/0 * * * *":         "",
		"99 99 99 99 99":      "",
		"- , / - ,":           "",
		"0 - , * *":           "",
		"*/ */ * * *":         "",
		"0 0 * * ,":           "",
		"0 0 * , *":           "",
	} {
		if got := Cron(expression); got != want {
			t.Errorf("%q: %q, not %q", expression, got, want)
		}
	}
}

func TestPeriodsInWords(t *testing.T) {
	t.Parallel()
	for want, i := range map[string][3]int64{
		"every minute": {0, 0, 60e6}, "every year, 2 months and day": {14, 1, 0}, "every 2 hours and 30 seconds": {0, 0, 7230e6}, "every 250 milliseconds": {0, 0, 250e3}, "": {0, 0, 5},
	} {
		if got := Every(i[0], i[1], i[2]); got != want {
			t.Errorf("%v: %q, not %q", i, got, want)
		}
	}
}
