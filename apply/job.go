package apply

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"pgtaskd/conf"
)

// Job is one entry of a file.
type Job struct {
	Key    string
	Doubts []conf.Fault // what the file may mean otherwise

	at      conf.Position
	named   map[string]field // by column; input_file has become input
	columns []string         // keys of named, in the order of the file
}

// Jobs are the jobs of all files; their keys differ.
type Jobs []*Job

// fileLimit is the longest file of jobs, in bytes.
const fileLimit = 4 << 20

// longestKey is the longest key that the table accepts, in bytes.
const longestKey = 1 << 10

// inputFile is what a file may name instead of the column input.
const inputFile = "input_file"

// Read reads files of jobs. An input or data longer than limit bytes, which the target would not
// run, is a fault. The error is Faults: all that can be found without the table.
func Read(paths []string, limit int64) (Jobs, error) {
	return read(limit, func(r *reader) {
		for _, path := range paths {
			r.file(path)
		}
	})
}

// ReadText reads jobs from a text; errors show its name.
func ReadText(name, text string, limit int64) (Jobs, error) {
	return read(limit, func(r *reader) { r.document(name, text) })
}

func read(limit int64, from func(*reader)) (Jobs, error) {
	r := &reader{limit: cmp.Or(limit, math.MaxInt64-1), keys: map[string]conf.Position{}}
	from(r)
	return r.jobs, r.faults.Err()
}

type reader struct {
	limit  int64
	jobs   Jobs
	keys   map[string]conf.Position
	faults conf.Faults
}

func (r *reader) file(path string) {
	text, trouble := readText(path, fileLimit)
	if trouble != "" {
		r.faults.Add(conf.Position{Path: path}, "%s", trouble)
		return
	}
	r.document(path, text)
}

func (r *reader) document(path, text string) {
	documents, faults := parse(path, text)
	if len(faults) > 0 {
		r.faults = append(r.faults, faults...)
		return
	}
	if len(documents) == 0 {
		r.faults.Add(conf.Position{Path: path}, "is empty; a list without a job is []")
	}
	for _, document := range documents {
		if document.kind != list {
			r.faults.Add(document.at, "must be a list of jobs, not %s", document.kind)
			continue
		}
		for _, item := range document.items {
			r.job(item, filepath.Dir(path))
		}
	}
}

func (r *reader) job(item value, folder string) {
	if item.kind != object {
		r.faults.Add(item.at, "must be a job, a map from column to value, not %s", item.kind)
		return
	}
	j := &Job{at: item.at, named: map[string]field{}}
	for _, f := range item.fields {
		name, v := f.name, f.value
		if name == inputFile {
			name = "input"
		}
		if _, given := j.named[name]; given {
			r.faults.Add(f.at, "a job has input or input_file, not both")
			continue
		}
		if f.name == inputFile {
			v = r.inputOf(v, folder)
		}
		j.named[name] = field{f.at, name, v}
		j.columns = append(j.columns, name)
		r.text(name, v)
		if v.cut && slices.Contains([]string{"input", "data", "on_fail"}, name) {
			j.Doubts = append(j.Doubts, conf.Fault{Position: v.at, Message: name + " ends before the #, which begins a comment: quote it if the # belongs to it"})
		}
	}
	r.key(j)
	r.complete(j)
	r.jobs = append(r.jobs, j)
}

// inputOf reads the file that replaces an input. A relative path starts at the folder of the jobs
// file.
func (r *reader) inputOf(v value, folder string) value {
	if v.kind != scalar || v.text == "" || strings.Contains(v.text, "\x00") {
		r.faults.Add(v.at, "input_file must be the path of a file")
		return v
	}
	path := v.text
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	v.quoted = true
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		r.faults.Add(v.at, "%s is no file", path)
		v.text = ""
		return v
	}
	text, trouble := readText(path, r.limit)
	if trouble != "" {
		r.faults.Add(v.at, "%s: %s", path, trouble)
	}
	v.text = text
	return v
}

// text reports texts that the server cannot store or would not run.
func (r *reader) text(name string, v value) {
	if v.kind != scalar {
		return
	}
	if strings.Contains(v.text, "\x00") {
		r.faults.Add(v.at, "%s must not contain a zero byte", name)
	}
	if size := int64(len(v.text)); (name == "input" || name == "data") && size > r.limit {
		r.faults.Add(v.at, "%s has %d bytes; more than %d are not run (data_limit)", name, size, r.limit)
	}
}

func (r *reader) key(j *Job) {
	of, given := j.named["key"]
	key := of.value
	switch {
	case !given:
		r.faults.Add(j.at, "the job has no key")
	case key.kind != scalar:
		r.faults.Add(key.at, "key must be the job's name, not %s", key.kind)
	case key.text == "":
		r.faults.Add(key.at, "key must not be empty")
	case len(key.text) > longestKey:
		r.faults.Add(key.at, "key must not be longer than 1 kB")
	default:
		j.Key, j.at = key.text, key.at
		if other, known := r.keys[j.Key]; known {
			r.faults.Add(j.at, "the key %q is that of another job: %s", j.Key, other)
		} else {
			r.keys[j.Key] = j.at
		}
	}
}

// complete reports a job that would run only once, and a job without an input.
func (r *reader) complete(j *Job) {
	if input, given := j.named["input"]; !given {
		r.faults.Add(j.at, "the job has neither input nor input_file")
	} else if input.value.kind != scalar {
		r.faults.Add(input.value.at, "input must be a text, not %s", input.value.kind)
	}
	cron, repeat := j.given("cron"), j.given("repeat")
	switch {
	case cron && repeat:
		r.faults.Add(j.named["repeat"].at, "a job has cron or repeat, not both")
	case !cron && !repeat:
		r.faults.Add(j.at, "the job has neither cron nor repeat")
	}
}

// given reports whether a column has a value other than null.
func (j *Job) given(column string) bool {
	f, named := j.named[column]
	return named && f.value.kind != null
}

// readText reads a text file; trouble says why it could not.
func readText(path string, limit int64) (text, trouble string) {
	var data []byte
	file, err := os.Open(path)
	if err == nil {
		defer func() { _ = file.Close() }()
		data, err = io.ReadAll(io.LimitReader(file, limit+1))
	}
	var of *fs.PathError
	switch {
	case errors.As(err, &of):
		return "", of.Err.Error() // the caller adds the path
	case err != nil:
		return "", err.Error()
	case int64(len(data)) > limit:
		return "", fmt.Sprintf("is longer than %d bytes", limit)
	case !utf8.Valid(data):
		return "", "is not UTF-8"
	}
	return strings.TrimPrefix(string(data), "\ufeff"), "" // some editors write a byte order mark
}
