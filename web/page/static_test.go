package page

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
)

// WCAG 2.2 asks for a contrast of 4.5 between a text and what is behind it.
func TestColoursCanBeRead(t *testing.T) {
	css, err := Static.ReadFile("static/app.css")
	if err != nil {
		t.Fatal(err)
	}
	light, dark, found := strings.Cut(string(css), "(prefers-color-scheme: dark)")
	if !found {
		t.Fatal("there are no dark colours")
	}
	colour := regexp.MustCompile(`--([a-z]+): #([0-9a-f]{6});`)
	for name, scheme := range map[string]string{"light": light, "dark": dark} {
		colours := map[string][3]float64{}
		for _, c := range colour.FindAllStringSubmatch(scheme, -1) {
			var r, g, b int
			_, _ = fmt.Sscanf(c[2], "%02x%02x%02x", &r, &g, &b)
			rgb := [3]float64{float64(r), float64(g), float64(b)}
			colours[c[1]] = rgb
		}
		for text := range strings.FieldsSeq("text dim link waits runs done failed cancelled paused expired") {
			for ground := range strings.FieldsSeq("page card hover tint") {
				behind := colours[ground]
				if ground == "tint" { // a badge in a row under the pointer
					for i := range behind {
						behind[i] = .11*colours[text][i] + .89*colours["hover"][i]
					}
				}
				a, b := luminance(colours[text])+.05, luminance(behind)+.05
				if contrast := max(a, b) / min(a, b); contrast < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f", name, text, ground, contrast)
				}
			}
		}
	}
}

func luminance(rgb [3]float64) (sum float64) {
	for i, weight := range []float64{.2126, .7152, .0722} {
		v := rgb[i] / 255
		if v <= .04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}
