package after

import (
	"fmt"
	"strings"
	"testing"
)

func TestCycles(t *testing.T) {
	t.Parallel()
	for awaits, want := range map[string]string{
		"":                            "[]",
		"1>2 2>3":                     "[]",
		"1>1":                         "[[1]]",
		"1>2 2>1":                     "[[1 2]]",
		"1>3 2>3 3>4 4>2":             "[[3 4 2]]",
		"1>2 2>1 3>1 5>9 7>8 8>7 9>5": "[[1 2] [5 9] [7 8]]",
	} {
		var ids, next []int64
		for _, pair := range strings.Fields(awaits) {
			var a, b int64
			if _, err := fmt.Sscanf(pair, "%d>%d", &a, &b); err != nil {
				t.Fatal(err)
			}
			ids, next = append(ids, a), append(next, b)
		}
		got := cycles(ids, next)
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v", awaits, got)
		}
	}
}
