package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"time"
)

// Shown tells whether the system shows the resources of its processes.
func Shown() bool { return runtime.GOOS == "linux" }

// Memory returns a process's memory in megabytes: VmRSS is the present memory, VmHWM the most so
// far.
func Memory(pid int, what string) (float64, error) {
	name := fmt.Sprintf("/proc/%d/status", pid)
	status, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	found := regexp.MustCompile(`(?m)^` + what + `:\s*(\d+) kB$`).FindSubmatch(status)
	if found == nil {
		return 0, fmt.Errorf("%s has no %s", name, what)
	}
	kilobytes, err := strconv.ParseFloat(string(found[1]), 64)
	return kilobytes * 1024 / 1e6, err
}

// clockTick is the unit of times in /proc, on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

var errStat = errors.New("not as expected")

// processTimes are the processor times of a process, and of its ended children.
type processTimes struct {
	parent        int
	own, children time.Duration
}

func readTimes(file string) (p processTimes, err error) {
	stat, err := os.ReadFile(file)
	if err != nil {
		return p, err
	}
	// After the program's name, which may contain any character: the state, the parent, 9 fields,
	// and four times.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 15 {
		return p, fmt.Errorf("%s: %w", file, errStat)
	}
	var errs [5]error
	number := func(i, field int) int {
		n, err := strconv.Atoi(string(fields[field]))
		errs[i] = err
		return n
	}
	p.parent = number(0, 1)
	p.own = time.Duration(number(1, 11)+number(2, 12)) * clockTick
	p.children = time.Duration(number(3, 13)+number(4, 14)) * clockTick
	return p, errors.Join(errs[:]...)
}

// Used returns the processor time that a process has used.
func Used(pid int) (time.Duration, error) {
	p, err := readTimes(fmt.Sprintf("/proc/%d/stat", pid))
	return p.own, err
}

// UsedByServer returns the processor time that all processes of a server have used so far; pid is
// the process of one of its sessions.
func UsedByServer(pid uint32) (time.Duration, error) {
	backend, err := readTimes(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	postmaster := fmt.Sprintf("/proc/%d/stat", backend.parent)
	var total time.Duration
	for _, file := range files {
		p, err := readTimes(file)
		if err == nil && (file == postmaster || p.parent == backend.parent) { // others may have ended by now
			total += exact(file, p.own) + p.children
		}
	}
	return total, nil
}

// exact returns the processor time of a process with one thread, in nanoseconds if the system shows
// them: for many short processes ticks are too coarse.
func exact(stat string, ticks time.Duration) time.Duration {
	var exact time.Duration
	content, err := os.ReadFile(filepath.Join(filepath.Dir(stat), "schedstat"))
	if err != nil {
		return ticks
	}
	if _, err := fmt.Sscan(string(content), &exact); err != nil {
		return ticks
	}
	return exact
}
