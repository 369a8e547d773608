package main

import (
	"fmt"
	"runtime/debug"

	"pgtaskd/work"
)

// version is set by the linker: `make build` puts the output of git describe here. It is empty
// after a plain go build or go install.
var version = ""

func init() { work.Version = programVersion() }

// programVersion returns the linker's version, else the version that Go has recorded.
func programVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknownVersion
	}
	return recordedVersion(info)
}

// unknownVersion is the version of a program built outside a repository.
const unknownVersion = "devel"

// recordedVersion returns the module's version if Go knows it, else the revision of the repository.
func recordedVersion(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "-dirty"
		}
	}
	if revision == "" {
		return unknownVersion
	}
	return revision[:min(12, len(revision))] + modified
}

type versionCommand struct{}

// Run prints what --version prints.
func (c *versionCommand) Run(p *program) error {
	_, err := fmt.Fprintln(p.stdout, versionLine())
	return err
}

func versionLine() string { return "pgtaskd " + programVersion() }
