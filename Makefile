# `make help` lists the targets.
SHELL := /bin/bash
GO ?= go
BIN := bin
DEMO_DIR ?= demo-data
TEMPORAL := $(shell command -v temporal 2>/dev/null || echo $(BIN)/temporal)
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: help
help: ## list the targets
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/muninn and bin/muninn-worker
	@echo "building $(BIN)/muninn and $(BIN)/muninn-worker (the first time takes a minute or two) …"
	@$(GO) build -o $(BIN)/ ./starter/muninn ./worker/muninn-worker

.PHONY: lab
lab: ## build bin/muninn-lab, which measures on recorded and synthetic webs
	@$(GO) build -o $(BIN)/ ./internal/lab/muninn-lab

.PHONY: temporal
temporal: ## build bin/temporal (server, UI and CLI) when none is on PATH
	@if [ ! -x "$(TEMPORAL)" ]; then echo "building bin/temporal (only once, two or three minutes) …"; mkdir -p $(BIN) && cd tools/temporal && $(GO) build -o ../../$(BIN)/temporal github.com/temporalio/cli/cmd/temporal; fi

.PHONY: demo
demo: build temporal ## crawl a small synthetic web on this machine (DEMO_DIR=demo-data)
	@$(BIN)/muninn demo --dir $(DEMO_DIR)

# A test whose name begins with TestLong is a long proof: `make test` skips it, `make proofs` runs it. Cached results of earlier
# runs are not used (-count=1).
# vet is part of `make lint`. The timeout is that of a machine whose processors others have most of the time.
GOTEST := $(GO) test -vet=off -count=1 -timeout 40m -parallel 4
# internal/integration waits for more than half of its time, and takes longest: it begins first, and two others run beside it.
FIRST := -p 3 ./internal/integration
PROOFS = $$(grep -rl --include='*_test.go' '^func TestLong' . | xargs -n1 dirname | sort -u)
RACE := ./activities ./frontier ./internal/archive ./internal/fetch ./internal/politeness ./internal/spool ./worker
KILL_RUNS ?= 10
REBUILD_SEGMENTS ?= 20000
SEED ?= 1

.PHONY: test
test: temporal ## run the tests except the long proofs (at most five minutes on two cores)
	MUNINN_BROWSER_TESTS=none $(GOTEST) -skip '^TestLong' $(FIRST) ./...

.PHONY: lint
lint: ## format, vet, floors, staticcheck, workflowcheck
	@test -z "$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go'))" || { echo "run gofmt on:"; gofmt -l $$(git ls-files -co --exclude-standard '*.go'); exit 1; }
	$(GO) test -count=1 ./internal/floors
	$(GO) vet ./...
	cd tools/lint && $(GO) build -o ../../$(BIN)/ honnef.co/go/tools/cmd/staticcheck go.temporal.io/sdk/contrib/tools/workflowcheck
	$(BIN)/staticcheck ./...
	$(BIN)/workflowcheck -config .workflowcheck.yaml ./workflows/...

.PHONY: proofs
proofs: temporal versitygw ## run the long proofs: kills, resets, schedules, simulation, broken servers, recorded webs
	MUNINN_BROWSER_TESTS=none $(GOTEST) -run '^TestLong' $(FIRST) $(PROOFS)

# -short: properties are checked on fewer random histories, the races of one are those of all, and what is about size is left out. Workflows are left out: Temporal runs one coroutine of
# theirs at a time.
GORACE := $(GOTEST) -race
.PHONY: race race-packages race-crawls
race: race-packages race-crawls ## run the race detector on the packages where goroutines share memory, and on crawls by a worker as a whole

race-packages:
	$(GORACE) -short -skip '^TestLong' $(RACE)

race-crawls: temporal
	$(GORACE) -run '^(TestAsk|TestPauseReleasesLeases|TestStartWithTheCLI)$$' ./internal/integration

.PHONY: rebuild
rebuild: ## rebuild a frontier from an archive of REBUILD_SEGMENTS (20000) segments; prints time and memory
	MUNINN_REBUILD_SEGMENTS=$(REBUILD_SEGMENTS) $(GO) test -count=1 -v -timeout 0 -run '^TestLongRebuild$$' ./internal/checkpoint

.PHONY: check
check: lint test proofs race ## all of the above; CI runs test-s3 and test-browser as well

.PHONY: kill
kill: temporal versitygw ## crawl while worker, Temporal and S3 are killed: KILL_RUNS (10) runs, seeds from SEED (1) on, per_queue 1, 2 and 12 in turn
	MUNINN_KILL_RUNS=$(KILL_RUNS) MUNINN_KILL_SEED=$(SEED) $(GO) test -count=1 -v -timeout 0 -run '^TestLongKilled$$' ./internal/integration

.PHONY: chaos
chaos: temporal versitygw ## two crawls spread over three workers, and ten minutes of kills, lost and full disks, cuts and outages at random, chosen by SEED (1); half an hour
	MUNINN_CHAOS=long MUNINN_CHAOS_SEED=$(SEED) $(GO) test -count=1 -v -timeout 0 -run '^TestLongChaos$$' ./internal/integration

REPLAYWEBPAGE := 2.5.3
.PHONY: replay test-replay test-replay-wacz
replay: ## fetch ReplayWeb.page (AGPL) from npm into bin/, for test-replay (needs npm)
	@command -v npm >/dev/null || { echo "npm is needed to fetch ReplayWeb.page: apt-get install npm"; exit 1; }
	@if [ ! -f $(BIN)/replaywebpage-$(REPLAYWEBPAGE)/sw.js ]; then mkdir -p $(BIN)/replaywebpage-$(REPLAYWEBPAGE) && cd $(BIN) && \
		file=$$(npm pack --silent replaywebpage@$(REPLAYWEBPAGE)) && tar -xzf $$file -C replaywebpage-$(REPLAYWEBPAGE) --strip-components=1 && rm $$file; fi

AXE := 4.10.3
.PHONY: axe
axe: ## fetch axe-core (MPL-2.0) from npm into bin/, which test-browser checks the reading room's pages with (needs npm)
	@command -v npm >/dev/null || { echo "npm is needed to fetch axe-core: apt-get install npm"; exit 1; }
	@if [ ! -f $(BIN)/axe-core-$(AXE)/axe.min.js ]; then mkdir -p $(BIN)/axe-core-$(AXE) && cd $(BIN) && \
		file=$$(npm pack --silent axe-core@$(AXE)) && tar -xzf $$file -C axe-core-$(AXE) --strip-components=1 package/axe.min.js package/LICENSE && rm $$file; fi

test-replay: replay temporal ## crawl 334 pages with all kinds of requisites, and compare each in Chromium, live and in ReplayWeb.page; ten minutes (needs chromium)
	MUNINN_BROWSER_REQUIRED=1 MUNINN_REPLAYWEBPAGE=$(CURDIR)/$(BIN)/replaywebpage-$(REPLAYWEBPAGE) $(GO) test -count=1 -v -timeout 1h -run '^TestReplay$$' ./internal/integration

test-replay-wacz: replay temporal ## the same with a WACZ file that muninn has exported
	MUNINN_REPLAY_WACZ=1 MUNINN_BROWSER_REQUIRED=1 MUNINN_REPLAYWEBPAGE=$(CURDIR)/$(BIN)/replaywebpage-$(REPLAYWEBPAGE) $(GO) test -count=1 -v -timeout 1h -run '^TestReplay$$' ./internal/integration

# Two archives: that of the demo, which is crawled if DEMO_DIR has none, and that of `make real`, in S3.
REPLAY_CAPTURES ?= 200
.PHONY: test-replay-captures test-replay-demo test-replay-real
REPLAY_CAPTURES_TEST = MUNINN_REPLAY_SEED=$(SEED) MUNINN_REPLAY_CAPTURES=$(REPLAY_CAPTURES) MUNINN_BROWSER_REQUIRED=1 MUNINN_REPLAYWEBPAGE=$(CURDIR)/$(BIN)/replaywebpage-$(REPLAYWEBPAGE) \
	$(GO) test -count=1 -v -timeout 1h -run '^TestReplayCaptures$$' ./internal/integration
test-replay-captures: test-replay-demo test-replay-real ## REPLAY_CAPTURES (200) captures of the demo and as many of make real, chosen by SEED (1), in the replay of muninn serve and in Chromium as recorded; fifteen minutes (needs chromium)

test-replay-demo: replay build temporal
	@[ -d $(DEMO_DIR)/archive ] || $(BIN)/muninn demo --dir $(DEMO_DIR)
	MUNINN_REPLAY_ARCHIVE=$(abspath $(DEMO_DIR))/archive $(REPLAY_CAPTURES_TEST)

test-replay-real: replay build temporal versitygw
	MUNINN_REAL_SECONDS=3600 MUNINN_REAL_THEN='cd $(CURDIR) && $(subst $$,\$$,$(REPLAY_CAPTURES_TEST))' tools/real/real.sh

.PHONY: readers test-readers
readers: ## fetch warcio.js (Apache-2.0) and js-wacz (MIT) from npm into bin/readers, for test-readers (needs npm)
	@command -v npm >/dev/null || { echo "npm is needed to fetch warcio.js and js-wacz: apt-get install npm"; exit 1; }
	@mkdir -p $(BIN)/readers && cp tools/readers/read.mjs tools/readers/package.json tools/readers/package-lock.json tools/readers/.npmrc $(BIN)/readers/
	@cmp -s tools/readers/package-lock.json $(BIN)/readers/.fetched || { cd $(BIN)/readers && npm ci --silent --ignore-scripts --no-audit --no-fund && cp package-lock.json .fetched; }

test-readers: readers build temporal ## export the demo as WARC and WACZ, and read that with warcio.js and js-wacz; a minute (needs node)
	@[ -d $(DEMO_DIR)/archive ] || $(BIN)/muninn demo --dir $(DEMO_DIR)
	MUNINN_READERS=$(CURDIR)/$(BIN)/readers MUNINN_READERS_ARCHIVE=$(abspath $(DEMO_DIR))/archive $(GO) test -count=1 -v -run '^TestReaders$$' ./internal/export

# What opens pages in a real Chromium, which `make test` and `make proofs` leave out; internal/floors checks that no such test is missing here.
BROWSER_TESTS := TestSingleSites|TestWorkers|TestServiceWorker|TestCutOff|TestBusyPage|TestHarm|TestDied|TestNoNetwork|TestHostile|TestScheme|TestFields|TestReferencesInBrowser|TestBrowser|TestRoomInBrowser|TestDecideInBrowser|TestReplayInRoom
LONG_BROWSER_TESTS := TestLongBrowserKilled
LONG ?=
.PHONY: test-browser
test-browser: export MUNINN_REPLAYWEBPAGE := $(wildcard $(CURDIR)/$(BIN)/replaywebpage-$(REPLAYWEBPAGE))
test-browser: export MUNINN_AXE := $(wildcard $(CURDIR)/$(BIN)/axe-core-$(AXE)/axe.min.js)
test-browser: temporal versitygw ## the tests that open pages in Chromium, which is looked for as the worker does, or named by MUNINN_BROWSER; with LONG=1, the worker is killed meanwhile as well; after make replay and make axe, replay and accessibility of the reading room, too
	MUNINN_BROWSER_REQUIRED=1 $(GOTEST) -v -run '^($(BROWSER_TESTS)$(if $(LONG),|$(LONG_BROWSER_TESTS)))$$' ./internal/browser ./internal/page ./internal/integration ./internal/room

.PHONY: versitygw
versitygw: ## build bin/versitygw, the S3 server of the tests
	@mkdir -p $(BIN) && cd tools/versitygw && $(GO) build -o ../../$(BIN)/versitygw github.com/versity/versitygw/cmd/versitygw

.PHONY: test-s3
test-s3: temporal versitygw ## run the store's conformance suite, the exchange of learning updates and the integration test on a real S3 server
	tools/versitygw/with-s3.sh sh -c '$(GOTEST) -run S3 ./internal/archive/... ./internal/export ./internal/integration/... && $(GOTEST) ./internal/learning'

# The last release; before the first one, the last commit that parsed definitions in workflow code.
FORMER ?= $(or $(shell git describe --tags --abbrev=0 2>/dev/null),763038a)
# The same for spread crawls; before the first release, the last commit of the first versions of their workflows.
FORMER_SPREAD ?= $(or $(shell git describe --tags --abbrev=0 2>/dev/null),0c893c2)
.PHONY: former test-upgrade
former:
	@echo $(sort $(FORMER) $(FORMER_SPREAD))

test-upgrade: temporal versitygw ## crawl across an upgrade of the worker from FORMER, a commit or the last tag, and of two from FORMER_SPREAD, to this version
	tools/upgrade/with-former.sh MUNINN_TEST_FORMER $(FORMER) tools/upgrade/with-former.sh MUNINN_TEST_FORMER_SPREAD $(FORMER_SPREAD) \
		$(GOTEST) -v -run '^TestUpgrade' ./internal/integration

.PHONY: test-deploy
test-deploy: temporal versitygw ## test deploy/: Temporal on PostgreSQL, S3, a worker by deploy/worker.yaml; rules, manifests, unit (needs PostgreSQL, promtool)
	deploy/check.sh
	tools/temporal-server/with-postgres.sh tools/versitygw/with-s3.sh $(GOTEST) -v -run '^TestDeployed$$' ./internal/integration

.PHONY: bench
bench: build temporal versitygw ## CPU per page of a whole crawl, compared with GNU wget on the same web, and of its parts; benches of packages
	@command -v wget >/dev/null || { echo "GNU wget is needed for comparison: apt-get install wget"; exit 1; }
	$(GO) run ./internal/bench/muninn-bench -bin $(BIN) -store s3
	@echo "frontier of 10^5 URLs:"; $(GO) test -run '^$$' -bench . -skip BenchmarkGrowth -benchtime 3x ./frontier
	@echo "frontier of 10^6 URLs:"; MUNINN_BENCH_KNOWN=1000000 $(GO) test -run '^$$' -bench . -skip BenchmarkGrowth -benchtime 3x ./frontier
	@echo "what each part costs a page; that of the browser if there is a chromium:"; $(GO) test -run '^$$' -bench BenchmarkParts ./internal/pipeline
	MUNINN_BROWSER=$${MUNINN_BROWSER-$$(command -v chromium)} $(GO) test -run '^$$' -bench BenchmarkOpen -benchtime 5x ./internal/browser
	$(GO) test -run '^$$' -bench . ./internal/urls ./internal/xpath ./kb ./internal/dates ./internal/bandit ./internal/page ./internal/aah ./internal/lab/recognition ./internal/order ./internal/score ./internal/archive ./activities
	@echo "the reading room: derive, export, index 5,000 pages, search 20,000, look up in 10^5 captures:"; $(GO) test -run '^$$' -bench . ./internal/derive ./internal/export
	$(GO) test -run '^$$' -bench BenchmarkIndex -benchtime 5000x ./internal/search/bleve
	MUNINN_SEARCH_DOCUMENTS=20000 MUNINN_CATALOGUE_LINES=100000 $(GO) test -run '^$$' -bench 'BenchmarkSearch|BenchmarkCatalogue' ./internal/search/bleve ./internal/catalogue/sqlite

.PHONY: bench-workers
bench-workers: build temporal versitygw ## what a page costs if 1, 2 and 4 workers crawl one web together, or a part of it each, and a worker that a crawl is bound to (0)
	$(GO) run ./internal/bench/muninn-bench -bin $(BIN) -store s3 -hosts 1000 -workers 0,1,2,4

.PHONY: bench-flight
bench-flight: build temporal ## what a worker takes that carries FLIGHT (2000) batches at a time: memory, goroutines, CPU; some five minutes
	$(GO) run ./internal/bench/muninn-bench -bin $(BIN) -flight $(FLIGHT)
FLIGHT ?= 2000

.PHONY: simulate
simulate: ## play a cluster of 20 workers on a web of SITES (10^6) sites under a simulated clock; several minutes
	MUNINN_SIMULATION=$(SITES) $(GO) test -count=1 -v -timeout 0 -run '^TestLongCluster$$' ./frontier/internal/simulation
SITES ?= 1000000

.PHONY: bench-growth
bench-growth: ## what operations of a frontier cost as it grows to KNOWN (10^6) URLs; 10^7 takes seven minutes and 3 GB of disk in TMPDIR
	MUNINN_BENCH_KNOWN=$(KNOWN) $(GO) test -run '^$$' -bench BenchmarkGrowth -benchtime 1x -timeout 0 ./frontier
KNOWN ?= 1000000

MUNINN_TESTDATA ?= $(or $(shell tools/testdata.sh),$(error set MUNINN_TESTDATA to the folder of test data))
.PHONY: eval-aah
eval-aah: lab ## how well the helper recognises saved pages and extracts their objects (MUNINN_TESTDATA/aah), compared with wappalyzergo
	$(BIN)/muninn-lab aah --compare --doubts internal/lab/recognition/doubts.tsv $(MUNINN_TESTDATA)/aah

.PHONY: eval-adapt
eval-adapt: lab ## how well extraction survives changed templates (MUNINN_TESTDATA/aah)
	$(BIN)/muninn-lab adapt $(MUNINN_TESTDATA)/aah

.PHONY: eval-text
eval-text: lab ## how well bodies, titles, authors and dates are extracted from saved pages (MUNINN_TESTDATA/aah)
	$(BIN)/muninn-lab text --compare $(MUNINN_TESTDATA)/aah

.PHONY: eval-text-documentation
DOCUMENTATION := internal/lab/text/documentation
eval-text-documentation: lab ## the same for bodies of documentation by twenty generators, from Debian packages in exact versions, which it fetches (100 MB; needs apt-get), and of constructed pages of shops
	@command -v dpkg-deb >/dev/null || { echo "dpkg-deb and apt-get are needed to fetch Debian packages"; exit 1; }
	@if ! cmp -s $(DOCUMENTATION)/packages $(BIN)/documentation/.fetched; then rm -rf $(BIN)/documentation && mkdir -p $(BIN)/documentation/debs && cd $(BIN)/documentation/debs && \
		apt-get download -q $$(cat ../../../$(DOCUMENTATION)/packages) && for file in *.deb; do dpkg-deb -x $$file ../$$(dpkg-deb -f $$file Package) || exit 1; done && \
		cd .. && rm -rf debs && cp ../../$(DOCUMENTATION)/packages .fetched; fi
	@cp $(DOCUMENTATION)/index.jsonl $(BIN)/documentation/
	$(BIN)/muninn-lab text --compare --gold $(DOCUMENTATION)/gold.jsonl $(BIN)/documentation
	$(BIN)/muninn-lab text --compare --gold internal/lab/text/testdata/shops/gold.jsonl internal/lab/text/testdata/shops

.PHONY: eval-focus
eval-focus: lab ## how soon crawls in several orders find the pages of a topic, on a recorded web (MUNINN_TESTDATA/webkb)
	$(BIN)/muninn-lab focus $(MUNINN_TESTDATA)/webkb --published --html $(BIN)/focus.html --csv $(BIN)/focus.csv
	$(BIN)/muninn-lab focus $(MUNINN_TESTDATA)/webkb --published --update first,avg,max,sum,last --order fused,content-anchor
	$(BIN)/muninn-lab focus $(MUNINN_TESTDATA)/webkb --random-seeds 20
	$(BIN)/muninn-lab focus $(MUNINN_TESTDATA)/webkb --live --per-queue 1,10,50 --draws 3
	$(BIN)/muninn-lab focus $(MUNINN_TESTDATA)/webkb --live --published --grid --per-queue 1,5,50 --draws 1 --order content-anchor
	@echo "curves of harvest and recall: $(BIN)/focus.html"

.PHONY: eval-focus-docs
eval-focus-docs: lab ## the same on documentation that Debian packages as HTML (fetches three packages)
	tools/focus/docs.sh $(BIN) --draws 3

KNOWN_PAGES ?= 400
.PHONY: eval-search
eval-search: ## where KNOWN_PAGES (400) pages that are known to be there are found by both search indexes (MUNINN_TESTDATA; PostgreSQL)
	MUNINN_TESTDATA=$(MUNINN_TESTDATA) MUNINN_SEARCH_KNOWN=$(KNOWN_PAGES) $(GO) test -count=1 -v -timeout 0 -run '^TestLongKnown$$' ./internal/search/...

.PHONY: eval-economy
eval-economy: lab ## requests per post, article and comment with the helper and without, on synthetic forums, a blog and a wiki
	$(BIN)/muninn-lab economy

.PHONY: real
real: build temporal ## crawl real documentation through Temporal into S3 (Debian; root if packages are missing)
	tools/real/real.sh
