#!/bin/sh
# Prints, for go test -run, the tests of work of which make test runs some cases, or none.
cd "$(dirname "$0")/../work" || exit
awk '
	FNR == 1 { slow = /go:build slow/ }
	/^func / { test = "" }
	/^func Test/ { test = $2; sub(/\(.*/, "", test) }
	test != "" && (slow || /someOf\(|thorough/) { print test }
' *_test.go | sort -u | paste -sd '|' -
