package web

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"pgtaskd/human"
	"pgtaskd/work"
)

// family is the kind with some of its metrics, as Prometheus has it.
func (k *kind) family(metrics ...*dto.Metric) *dto.MetricFamily {
	return &dto.MetricFamily{Name: &k.name, Help: &k.help, Type: &k.sort, Metric: metrics}
}

// head are the lines above the metrics of a kind.
func (k *kind) head() []byte {
	return []byte("# HELP " + k.name + " " + k.help + "\n# TYPE " + k.name + " " + strings.ToLower(k.sort.String()) + "\n")
}

// text writes down the metrics that a target has of a kind.
func (k *kind) text(target string, value any) ([]byte, error) {
	metrics := k.metrics(target, value)
	if len(metrics) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	if _, err := expfmt.MetricFamilyToText(&b, k.family(metrics...)); err != nil {
		return nil, err
	}
	return bytes.TrimPrefix(b.Bytes(), k.head()), nil
}

func (k *kind) metrics(target string, value any) (all []*dto.Metric) {
	switch v := value.(type) {
	case float64:
		all = append(all, k.one(v, pair("target", target)))
	case counts:
		for i, name := range k.values {
			all = append(all, k.one(float64(v[i]), pair("target", target), pair(k.label, name)))
		}
	case work.Times:
		all = append(all, &dto.Metric{Label: []*dto.LabelPair{pair("target", target)}, Histogram: buckets(v)})
	case *work.Survey:
		if v == nil {
			return nil
		}
		said := map[string]bool{}
		for _, key := range slices.Sorted(maps.Keys(v.Successes)) {
			if name := human.Visible(key); !said[name] {
				said[name] = true
				all = append(all, k.one(unix(v.Successes[key]), pair("target", target), pair(k.label, name)))
			}
		}
	}
	return all
}

func (k *kind) one(value float64, labels ...*dto.LabelPair) *dto.Metric {
	if k.sort == counter {
		return &dto.Metric{Label: labels, Counter: &dto.Counter{Value: &value}}
	}
	return &dto.Metric{Label: labels, Gauge: &dto.Gauge{Value: &value}}
}

func pair(name, value string) *dto.LabelPair { return &dto.LabelPair{Name: &name, Value: &value} }

func buckets(t work.Times) *dto.Histogram {
	sum, count := t.Sum.Seconds(), t.Count()
	h := &dto.Histogram{SampleCount: &count, SampleSum: &sum, Bucket: make([]*dto.Bucket, len(work.Buckets))}
	total := uint64(0)
	for i := range work.Buckets {
		total += t.Counts[i]
		upTo := total
		h.Bucket[i] = &dto.Bucket{CumulativeCount: &upTo, UpperBound: &bounds[i]}
	}
	return h
}
