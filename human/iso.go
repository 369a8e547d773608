package human

import "strings"

// ISO turns a moment as PostgreSQL writes it into one of ISO 8601. It keeps infinity.
func ISO(moment string) string {
	date, clock, found := strings.Cut(moment, " ")
	if !found || strings.Contains(clock, " ") { // infinity, or BC
		return moment
	}
	if sign := strings.LastIndexAny(clock, "+-"); sign > 0 && len(clock)-sign == 3 {
		clock += ":00"
	}
	return date + "T" + clock
}
