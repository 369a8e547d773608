package programtest

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
)

var highWater = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// Peak is the most memory that the program has had of the machine's since it was last asked for, in
// bytes. Linux tells it.
func (p *Program) Peak(t *testing.T) (bytes float64) {
	t.Helper()
	folder := fmt.Sprintf("/proc/%d/", p.PID())
	status, err := os.ReadFile(folder + "status")
	if err != nil {
		t.Fatal(err)
	}
	found := highWater.FindSubmatch(status)
	if found == nil {
		t.Fatalf("no peak of memory in %s", status)
	}
	kB, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(folder+"clear_refs", []byte("5"), 0); err != nil {
		t.Fatal(err)
	}
	return kB * 1024
}
