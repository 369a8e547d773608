package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"time"
)

// hasProc tells whether the system shows what its processes use.
func hasProc() bool { return runtime.GOOS == "linux" }

// resident is a process's memory in megabytes: VmRSS is what it has now, VmHWM the most it has had.
func resident(pid int, what string) (float64, error) {
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

// consumed is the processor time that a process has used.
func consumed(pid int) (time.Duration, error) {
	name := fmt.Sprintf("/proc/%d/stat", pid)
	stat, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	// Behind the program's name, in which anything may stand: the state, 10 fields, and the times in user mode and in the kernel.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("%s: %w", name, errStat)
	}
	user, err := strconv.ParseInt(string(fields[11]), 10, 64)
	system, err2 := strconv.ParseInt(string(fields[12]), 10, 64)
	return time.Duration(user+system) * clockTick, errors.Join(err, err2)
}
