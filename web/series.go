package web

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"pgtaskd/work"
)

// series are the names of one target's metrics, made once: with hundreds of targets that is most of what reading them costs. Any goroutine may use them.
type series struct {
	target string
	bare   []*dto.LabelPair                      // the target alone
	known  map[*kind]map[string][]*dto.LabelPair // by the value of the other label
}

func newSeries(target string) *series {
	s := &series{target: target, known: map[*kind]map[string][]*dto.LabelPair{}}
	s.bare = s.labels(tasksTotal)
	for k, values := range map[*kind][]string{tasksTotal: work.Ends[:], skipped: work.Skips[:], wakeups: work.Wakes[:]} {
		s.known[k] = map[string][]*dto.LabelPair{}
		for _, value := range values {
			s.known[k][value] = s.labels(k, value)
		}
	}
	return s
}

// labels are the target's, and those of the kind that have a value.
func (s *series) labels(k *kind, values ...string) []*dto.LabelPair {
	name := "target"
	pairs := []*dto.LabelPair{{Name: &name, Value: &s.target}}
	for i, value := range values {
		pairs = append(pairs, &dto.LabelPair{Name: &k.labels[i], Value: &value})
	}
	slices.SortFunc(pairs, func(a, b *dto.LabelPair) int { return strings.Compare(a.GetName(), b.GetName()) })
	return pairs
}

// one is a metric of which there is one, or one for each value of a label that is known.
func (s *series) one(k *kind, value float64, labels ...string) prometheus.Metric {
	pairs := s.bare
	if len(labels) > 0 {
		pairs = s.known[k][labels[0]]
	}
	return &sample{kind: k, labels: pairs, value: value}
}

// passing is a metric whose label may have any value.
func (s *series) passing(k *kind, value float64, label string) prometheus.Metric {
	return &sample{kind: k, labels: s.labels(k, label), value: value}
}

func (s *series) histogram(k *kind, t work.Times) prometheus.Metric {
	sum, count := seconds(t.Sum), t.Count()
	h := &dto.Histogram{SampleCount: &count, SampleSum: &sum, Bucket: make([]*dto.Bucket, len(work.Buckets))}
	total := uint64(0)
	for i := range work.Buckets {
		total += t.Counts[i]
		upTo := total
		h.Bucket[i] = &dto.Bucket{CumulativeCount: &upTo, UpperBound: &bounds[i]}
	}
	return &sample{kind: k, labels: s.bare, histogram: h}
}

func (s *series) summary(k *kind, e work.Effort) prometheus.Metric {
	sum := seconds(e.Sum)
	return &sample{kind: k, labels: s.bare, summary: &dto.Summary{SampleCount: &e.Count, SampleSum: &sum}}
}

// bounds are the buckets' in seconds.
var bounds = func() (all [len(work.Buckets)]float64) {
	for i, d := range work.Buckets {
		all[i] = seconds(d)
	}
	return all
}()

// sample is a metric at a moment.
type sample struct {
	kind      *kind
	labels    []*dto.LabelPair
	value     float64
	histogram *dto.Histogram
	summary   *dto.Summary
}

// Desc is that of its kind.
func (s *sample) Desc() *prometheus.Desc { return s.kind.desc }

// Write writes it down.
func (s *sample) Write(m *dto.Metric) error {
	m.Label = s.labels
	switch {
	case s.histogram != nil:
		m.Histogram = s.histogram
	case s.summary != nil:
		m.Summary = s.summary
	case s.kind.sort == counter:
		m.Counter = &dto.Counter{Value: &s.value}
	default:
		m.Gauge = &dto.Gauge{Value: &s.value}
	}
	return nil
}

// label is a text as the value of a label.
func label(text string) string { return strings.ToValidUTF8(text, "?") }
