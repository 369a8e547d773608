package remote

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestManyHostsAreRefused: a task's string may have at most 16 hosts, and the error says so.
func TestManyHostsAreRefused(t *testing.T) {
	t.Parallel()
	rules := Rules{Base: Settings{"host": "a", "user": "u", "dbname": "d"}}
	for _, pattern := range []string{"password=x host=h%s", "password=x hostaddr=::1%s", "password=x host=h port=1%s", "postgres://u:x@h%s/d"} {
		for n, refused := range map[int]bool{16: false, 17: true} {
			more := strings.Repeat(",h", n-1)
			switch {
			case strings.Contains(pattern, "port"):
				more = strings.Repeat(",1", n-1)
				pattern = strings.Replace(pattern, "host=h ", "host=h"+strings.Repeat(",h", 15)+" ", 1)
			case strings.Contains(pattern, "hostaddr"):
				more = strings.Repeat(",::1", n-1)
			}
			_, err := rules.Resolve(fmt.Sprintf(pattern, more))
			var answer *Refused
			if errors.As(err, &answer) != refused || refused && !strings.Contains(answer.Message+answer.Detail, "16 hosts") {
				t.Errorf("%s, %d: %v", pattern, n, err)
			}
			if refused && answer.SQLState != stateValue {
				t.Error(answer.SQLState)
			}
		}
	}
	rules.Named = map[string]string{"many": "host=h" + strings.Repeat(",h", 40)}
	if _, err := rules.Resolve("many"); err != nil {
		t.Error("of the configuration: ", err)
	}
}

// TestNoStringCostsMuch: the memory for a task's string is proportional to its length.
func TestNoStringCostsMuch(t *testing.T) {
	const longest = 64 << 10
	strs := map[string]string{
		"hosts of a URI": "postgres://u:x@" + strings.Repeat(",", longest) + "/d",
		"ports of a URI": "postgres://u:x@" + strings.Repeat(":1,", longest/3) + "/d",
		"addresses":      "password=x hostaddr=" + strings.Repeat("::1,", longest/4),
		"ports":          "password=x port=" + strings.Repeat("1,", longest/2),
		"hosts":          "password=x host=" + strings.Repeat(",", longest),
		"few long hosts": "password=x host=" + strings.TrimSuffix(strings.Repeat(strings.Repeat("h", longest/16-1)+",", 16), ","),
		"pairs":          strings.Repeat("port=1 ", longest/7) + "password=x",
		"query":          "postgres://u:x@h/d?" + strings.Repeat("port=1&", longest/7),
		"escapes":        "password=" + strings.Repeat(`\\`, longest/2),
		"percent":        "postgres://u:x@h/" + strings.Repeat("%20", longest/3),
		"blanks":         strings.Repeat(" ", longest) + "password=x",
		"colons":         "postgres://" + strings.Repeat(":", longest),
		"brackets":       "postgres://u:x@" + strings.Repeat("[::1],", longest/6) + "h",
		"methods":        "password=x require_auth=" + strings.Repeat("md5,", longest/4) + "md5",
		"no methods":     "password=x require_auth=" + strings.Repeat("!md5,", longest/5) + "!md5",
		"no keyword":     strings.Repeat("x", longest) + "=1",
		"words":          "password=x " + strings.Repeat("a ", longest/2),
	}
	for _, keyword := range keywords {
		strs[keyword] = keyword + "=" + strings.Repeat("1", longest)
		strs[keyword+", list"] = "password=x " + keyword + "=" + strings.Repeat("1,", longest/2)
		strs[keyword+", quotes"] = "password=x " + keyword + `='` + strings.Repeat(`\'`, longest/2) + "'"
	}
	const runs = 2
	for _, superuser := range []bool{false, true} {
		rules := Rules{Base: Settings{"host": "a", "user": "u", "dbname": "d"}, Superuser: superuser}
		for name, s := range strs {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range runs {
				_, _ = rules.Resolve(s)
			}
			runtime.ReadMemStats(&after)
			if each := (after.TotalAlloc - before.TotalAlloc) / runs; each > 32*longest {
				t.Errorf("%s: %d kB", name, each>>10)
			}
		}
	}
}
