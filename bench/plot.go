package main

import (
	"image/color"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

const (
	plotWidth  = 16 * vg.Centimeter
	plotHeight = 9 * vg.Centimeter
)

var plotColor = color.RGBA{R: 0x33, G: 0x67, B: 0x91, A: 0xff}

// point is the result of one step of a sweep, in tasks/s.
type point struct {
	step                int
	least, middle, most float64
	cost                cost // the mean of the rounds
}

// spreads are points with bars from the least of the rounds to the most.
type spreads []point

func (s spreads) Len() int { return len(s) }

func (s spreads) XY(i int) (x, y float64) { return float64(s[i].step), s[i].middle }

func (s spreads) YError(i int) (low, up float64) {
	return s[i].middle - s[i].least, s[i].most - s[i].middle
}

// draw writes the plot of a sweep into a file, as the file's name ends: .svg.
func draw(file, axis string, points []point) error {
	line, dots, err := plotter.NewLinePoints(spreads(points))
	if err != nil {
		return err
	}
	bars, err := plotter.NewYErrorBars(spreads(points))
	if err != nil {
		return err
	}
	line.Color, dots.Color, bars.Color = plotColor, plotColor, plotColor
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = axis, "tasks/s"
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = stepTicks(points)
	p.Add(plotter.NewGrid(), line, dots, bars)
	p.Y.Min, p.Y.Max = 0, p.Y.Max*1.1
	return p.Save(plotWidth, plotHeight, file)
}

// stepTicks marks where there are points.
func stepTicks(points []point) plot.ConstantTicks {
	ticks := make(plot.ConstantTicks, len(points))
	for i, p := range points {
		ticks[i] = plot.Tick{Value: float64(p.step), Label: rounded(p.step)}
	}
	return ticks
}

// rounded writes a number of thousands or millions in short.
func rounded(n int) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return strconv.Itoa(n/1_000_000) + "M"
	case n >= 10_000 && n%1000 == 0:
		return strconv.Itoa(n/1000) + "k"
	}
	return grouped(n)
}
