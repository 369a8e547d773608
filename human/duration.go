package human

import (
	"fmt"
	"strconv"
	"time"
)

// Duration writes a time such as 120 ms, 1.5 s, 2 min 30 s or 3 days 4 h.
func Duration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < 0:
		return "-" + Duration(-(d + 1)) // +1: the least duration has no positive counterpart
	case d == 0:
		return "0 s"
	case d < time.Millisecond:
		return decimal(float64(d)/float64(time.Millisecond), 2) + " ms"
	case d < 10*time.Millisecond:
		return decimal(float64(d)/float64(time.Millisecond), 1) + " ms"
	case d.Round(time.Millisecond) < time.Second:
		return fmt.Sprint(d.Round(time.Millisecond).Milliseconds(), " ms")
	case d.Round(100*time.Millisecond) < time.Minute:
		return decimal(d.Seconds(), 1) + " s"
	case d.Round(time.Second) < time.Hour:
		return two(d.Round(time.Second), time.Minute, "min", time.Second, "s")
	case d.Round(time.Minute) < 2*day:
		return two(d.Round(time.Minute), time.Hour, "h", time.Minute, "min")
	default:
		return two(d.Round(time.Hour), day, "days", time.Hour, "h")
	}
}

// decimal writes a number with at most so many digits after the point.
func decimal(f float64, digits int) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', digits, 64), 64) // a formatted number always parses
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

func two(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	text := fmt.Sprint(int64(d/large), " ", largeName)
	if rest := d % large / small; rest > 0 {
		text += fmt.Sprint(" ", int64(rest), " ", smallName)
	}
	return text
}
