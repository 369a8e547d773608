package main

import (
	"bytes"
	"runtime/debug"
	"testing"
)

// TestVersion: --version and version print one line with the linker's version, nothing else.
func TestVersion(t *testing.T) {
	defer func(before string) { version = before }(version)
	version = "v1.2.3-4-gabcdef0"
	for _, arg := range []string{"version", "--version"} {
		var stdout, stderr bytes.Buffer
		err := run(t.Context(), []string{arg}, &stdout, &stderr)
		if stdout.String() != "pgtaskd v1.2.3-4-gabcdef0\n" || stderr.Len() != 0 || err != nil {
			t.Errorf("%s prints %q and %q: %v", arg, &stdout, &stderr, err)
		}
	}
}

// TestRecordedVersion: without the linker's version, the build's record counts.
func TestRecordedVersion(t *testing.T) {
	t.Parallel()
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	revision := setting("vcs.revision", "8a178210123456789abcdef0123456789abcdef0")
	for _, c := range []struct {
		module   string
		settings []debug.BuildSetting
		want     string
	}{
		{module: "v1.2.3", want: "v1.2.3"},
		{module: "v1.2.3", settings: []debug.BuildSetting{revision}, want: "v1.2.3"},
		{module: "(devel)", settings: []debug.BuildSetting{revision}, want: "8a1782101234"},
		{module: "(devel)", settings: []debug.BuildSetting{revision, setting("vcs.modified", "false")}, want: "8a1782101234"},
		{settings: []debug.BuildSetting{setting("vcs.revision", "8a17"), setting("vcs.modified", "true")}, want: "8a17-dirty"},
		{module: "(devel)", want: "devel"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.module}, Settings: c.settings}
		if got := recordedVersion(info); got != c.want {
			t.Errorf("%q with %v: %q, want %q", c.module, c.settings, got, c.want)
		}
	}
}
