.PHONY: build demo test smoke attack steps lint bench pairs chaos fuzz clean

FUZZTIME ?= 20s
TOOL := go tool -modfile=$(CURDIR)/tools/go.mod

build:
	CGO_ENABLED=0 go build -o bin/pgtaskd .

# A server of its own, a table of tasks, and pgtaskd at work on it.
demo: build
	bin/pgtaskd demo

# TESTFLAGS adds flags for go test, such as -v. One package at a time: each has servers of its own, and some look at the clock; most of the
# tests of a package wait for something, so four at once.
test:
	server/install.sh postgresql compiler
	go test -race -count=1 -p 1 -parallel 6 -timeout 290s $(TESTFLAGS) $$(go list ./... | grep -v /smoke$$)
	go -C bench test -race -count=1 -timeout 290s $(TESTFLAGS) ./...

# Whoever has some right attacks whoever has more, and the program's memory, in ten minutes or so: docs/security.md.
attack: build
	server/install.sh postgresql compiler
	go test -count=1 -tags slow -timeout 30m $(TESTFLAGS) ./attack
	go test -count=1 -tags slow -timeout 30m $(TESTFLAGS) -run '^TestMemory' ./smoke

# A controller dies at every message that it exchanges with the server, an hour or more. PART=2/5 is the second part of five.
steps:
	server/install.sh postgresql
	PGTASKD_STEPS=$(or $(PART),1/1) go test -count=1 -parallel 6 -timeout 150m $(TESTFLAGS) -run '^TestEveryStep$$' ./work

# The built program, used from outside.
smoke: build
	server/install.sh postgresql
	go test -count=1 $(TESTFLAGS) ./smoke/...

lint:
	@files=$$($(TOOL) gofumpt -l .) || exit; \
	test -z "$$files" || { echo "not formatted by gofumpt:" $$files; exit 1; }
	go vet ./...
	go vet -tags slow ./...
	go -C bench vet ./...
	$(TOOL) staticcheck ./...
	cd bench && $(TOOL) staticcheck ./...
	go test -count=1 -run '^TestImports' .

# QUICK=1 for a short run. RIVER=1 measures beside River instead of pgbench, GROWTH=1 draws the plots of docs/performance. It is a module of its own, for what draws them and for River.
bench:
	server/install.sh postgresql
	go -C bench run . $(if $(QUICK),-quick) $(if $(RIVER),-river) $(if $(GROWTH),-growth $(CURDIR)/docs/performance)

# Compares this build with the program OTHER in alternating runs. PAIRS=9, ROWS='INSERT|save' and QUICK=1 change how many, of what and how long.
pairs:
	@test -n "$(OTHER)" || { echo "make pairs OTHER=path/to/another/pgtaskd"; exit 1; }
	server/install.sh postgresql
	go -C bench run . -other '$(abspath $(OTHER))' $(if $(PAIRS),-pairs $(PAIRS)) $(if $(ROWS),-rows '$(ROWS)') $(if $(QUICK),-quick)

# Breaks everything at random for two minutes, and checks that no promise was broken. SEED=7 repeats a run's faults, FOR=10m makes it
# longer, MODE=async or MODE=remote runs other tasks (docs/reliability.md).
chaos:
	server/install.sh postgresql
	go run ./chaos $(if $(SEED),-seed $(SEED)) $(if $(FOR),-for $(FOR)) $(if $(MODE),-mode $(MODE))

# Every fuzz test for FUZZTIME.
fuzz:
	tools/fuzz.sh $(FUZZTIME)

clean:
	rm -rf bin
