.PHONY: help build demo quick test test-matrix smoke attack thorough steps lint bench pairs chaos fuzz pictures clean

FUZZTIME ?= 20s
TOOL := go tool -modfile=$(CURDIR)/tools/go.mod
# Empty outside a git checkout; the program then prints what Go recorded about the build.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)

help: ## List the targets.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

build: ## Build bin/pgtaskd.
	CGO_ENABLED=0 go build -ldflags "$(if $(VERSION),-X main.version=$(VERSION))" -o bin/pgtaskd .

demo: build ## Start a throw-away server and show tasks at work.
	server/install.sh postgresql
	bin/pgtaskd demo

# The packages whose tests start no server, and two of whose tests few do. The rules of the code and of the documents need none either.
light = $(shell go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.TestImports}} {{.XTestImports}}{{end}}' ./... | \
	grep -v pgtaskd/server | cut -d' ' -f1) ./conf ./work/schedule
RULES := TestArchitectureIsShort|TestArchitectureNamesWhatIsThere|TestBudgets|TestDecisionsAreShort|TestDocumentsNameMakeTargets|TestImports|TestLinks|TestMakeHelp|TestMakefileNamesTests|TestOperationsHasShortCells|TestPackagesAreDocumented|TestPromisesAreTried|TestRoutines|TestStatesNameOperations|TestWaysNameWhatIsThere

quick: ## Test the pure packages, the rules of the code, and one task in the built program (less than a minute).
	@server/install.sh -n postgresql
	go test -short $(light)
	go test -run '^($(RULES))$$' .
	go test -count=1 -run '^TestWork$$' ./smoke

# These have tests that look at the clock: one package at a time. Most tests of a package wait for something, so several run at once.
ALONE := exec faults sql work
others = $(filter-out $(addprefix %/,$(ALONE) smoke),$(shell go list ./...))

test: test-light test-alone test-bench test-browser ## Run all tests. TESTFLAGS=-v adds flags for go test.

# The parts of make test.
.PHONY: test-light test-alone test-bench test-browser test-needs

test-light: test-needs
	go test -race -count=1 -vet=off -p 2 -parallel 6 -timeout 15m $(TESTFLAGS) $(others)

test-alone: test-needs
	go test -race -count=1 -vet=off -p 1 -parallel 6 -timeout 25m $(TESTFLAGS) $(addprefix ./,$(ALONE))

test-bench: test-needs
	go -C bench test -race -count=1 -vet=off -timeout 15m $(TESTFLAGS) ./...

test-browser: test-needs
	server/install.sh chromium
	go -C browser test -count=1 -vet=off -timeout 15m $(TESTFLAGS) ./...

test-needs:
	server/install.sh postgresql compiler clock
	-server/install.sh pg_cron pgagent pgq promtool psycopg

# The servers that make test-matrix installs, from oldest to newest.
MAJORS := 12 13 14 15 16 17 18
SUITE ?= test smoke
servers := tools/majors/node_modules

test-matrix: test-needs $(addprefix matrix-,$(MAJORS)) ## Run all tests on PostgreSQL 12 to 18. MAJORS='12 18' SUITE=smoke.

matrix-%: $(servers)/.linked
	PG_BINDIR=$(CURDIR)/$(servers)/pg$*/native/bin $(MAKE) $(SUITE)

$(servers)/.linked: tools/majors/package-lock.json
	server/install.sh npm
	npm ci --prefix tools/majors --ignore-scripts --no-audit --no-fund
	for server in $(servers)/pg*; do (cd $$server && node scripts/hydrate-symlinks.js) || exit; done
	touch $@

smoke: build ## Test the built program from outside.
	server/install.sh postgresql
	-server/install.sh pgq
	go test -count=1 -parallel 4 $(TESTFLAGS) ./smoke/...

attack: build ## Run all attacks of docs/security.md and the memory tests (10 minutes).
	server/install.sh postgresql compiler
	go test -count=1 -tags slow -timeout 30m $(TESTFLAGS) ./attack
	go test -count=1 -tags slow -timeout 30m $(TESTFLAGS) -run '^TestMemory' ./smoke

thorough: ## Run all cases of the long tests, of the model and of the calendar, of which make test takes a sample (45 minutes).
	go test -count=1 -tags slow -timeout 30m $(TESTFLAGS) ./work/model
	go test -count=1 -tags slow -timeout 30m $(TESTFLAGS) -run '^TestEachMinuteOfSixteenYears$$' ./work/schedule
	server/install.sh postgresql
	tools/long_tests.sh | while read -r folder tests; do \
		go test -race -count=1 -tags slow -timeout 60m $(TESTFLAGS) -run "$$tests" "./$$folder" </dev/null || exit; done
	server/install.sh chromium
	go -C browser test -count=1 -tags slow -timeout 30m $(TESTFLAGS) -run '^TestTenMillionRows$$' .

steps: ## Kill a controller at every message of the protocol (an hour). PART=2/5 runs the second of five parts.
	server/install.sh postgresql
	PGTASKD_STEPS=$(or $(PART),1/1) go test -count=1 -parallel 6 -timeout 150m $(TESTFLAGS) -run '^TestEveryStep$$' ./work

lint: ## Check format, vet, staticcheck and the rule of imports.
	@files=$$($(TOOL) gofumpt -l .) || exit; \
	test -z "$$files" || { echo "not formatted by gofumpt:" $$files; exit 1; }
	go vet -tags slow ./...
	go -C bench vet ./...
	go -C browser vet -tags slow ./...
	$(TOOL) staticcheck ./...
	cd bench && $(TOOL) staticcheck ./...
	cd browser && $(TOOL) staticcheck -tags slow ./...
	go test -count=1 -run '^TestImports' .

# bench is a module of its own, so that the program does not depend on River.
bench: ## Measure beside pgbench (15 minutes). QUICK=1 is short, RIVER=1 measures beside River.
	server/install.sh postgresql
	go -C bench run . $(if $(QUICK),-quick) $(if $(RIVER),-river)

pairs: ## Compare this build with the program OTHER in alternating runs. PAIRS=9, ROWS='INSERT|save', QUICK=1.
	@test -n "$(OTHER)" || { echo "make pairs OTHER=path/to/another/pgtaskd"; exit 1; }
	server/install.sh postgresql
	go -C bench run . -other '$(abspath $(OTHER))' $(if $(PAIRS),-pairs $(PAIRS)) $(if $(ROWS),-rows '$(ROWS)') $(if $(QUICK),-quick)

chaos: ## Break everything at random for two minutes, then check the promises. SEED=7 FOR=10m MODE=async|remote|servers|failover.
	server/install.sh postgresql
	go run ./chaos $(if $(SEED),-seed $(SEED)) $(if $(FOR),-for $(FOR)) $(if $(MODE),-mode $(MODE))

pictures: ## Take the pictures of docs/page again, in Chromium.
	server/install.sh postgresql chromium
	PGTASKD_PICTURES=1 go -C browser test -count=1 -run '^TestPictures$$' .

fuzz: ## Run every fuzz test for FUZZTIME=20s.
	tools/fuzz.sh $(FUZZTIME)

clean: ## Remove bin/.
	rm -rf bin
