# make run and make test are all that a newcomer needs. Everything else is for people who change Larder.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

LISTEN ?= 127.0.0.1:3180
SWIFT_SOURCES := Package.swift Sources Tests docs/samples
# Frame pointers would cost a hit one instruction in twenty (docs/performance-notes.md).
RELEASE := -c release --static-swift-stdlib --omit-frame-pointers

.PHONY: help setup run release deb dist test test-busy test-long page format lint docs map symbols bench bench-peers tsan asan clean

help: ## Says what there is to make
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## (.*)/  make \1|\2/' | column -t -s '|'

setup: ## Installs the libraries that are missing (Debian, Ubuntu), or says which they are
	@scripts/setup.sh

run: release ## Builds the release and serves on 127.0.0.1:3180 (LISTEN=HOST:PORT ARGS=... to change)
	exec $$(swift build $(RELEASE) --show-bin-path)/larder serve --listen $(LISTEN) $(ARGS)

release: setup ## Builds the release binary
	swift build $(RELEASE) --product larder

deb: release ## Makes a Debian package in .build/packages
	scripts/package.py deb --larder "$$(swift build $(RELEASE) --show-bin-path)/larder"

dist: release ## Makes a .tar.gz for other systems in .build/packages
	scripts/package.py dist --larder "$$(swift build $(RELEASE) --show-bin-path)/larder"

test: ## Runs every test
	scripts/setup.sh --test
	scripts/test.sh

test-busy: ## Runs every test ten times on a machine that is more or less busy
	scripts/setup.sh --test
	swift build --build-tests
	scripts/test-busy.sh

page: ## Runs the stories of the page in Chromium, which it installs if it is missing
	swift build --product larder
	LARDER="$$(swift build --show-bin-path)/larder" Tests/Page/run.sh --install

test-long: setup ## Runs what takes longer than a test may (release build)
	scripts/test-long.sh

format: ## Formats the sources in place
	swift format --in-place --recursive --parallel $(SWIFT_SOURCES)

lint: ## Checks the format
	swift format lint --strict --recursive --parallel $(SWIFT_SOURCES)

docs: setup ## Writes docs/configuration.md again from the table of settings
	swift build --product larder
	"$$(swift build --show-bin-path)/larder" config schema --output markdown > docs/configuration.md.new
	mv docs/configuration.md.new docs/configuration.md

map: ## Draws docs/architecture-map.svg again: the modules, their imports and sizes
	scripts/module-map.py

symbols: setup ## Writes the pages of the libraries by DocC, and says which public symbol has no sentence
	swift build
	scripts/symbol-docs.py

bench: release ## Measures allocations, instructions, system calls and memory of the release binary
	Tests/Performance/measure.sh all

bench-peers: release ## Drives a harness that measures Larder beside its peers: make bench-peers BENCH=DIR ARGS=...
	@test -n "$(BENCH)" || { echo 'make bench-peers BENCH=DIR, where DIR holds bench.sh' >&2; exit 2; }
	BENCH_PEERS="$(CURDIR)/Tests/Performance/peers.toml" LARDER="$$(swift build $(RELEASE) --show-bin-path)/larder" \
		"$(BENCH)/bench.sh" $(ARGS)

tsan: setup ## Runs the tests under ThreadSanitizer
	LARDER_SANITIZE=thread LARDER_TEST_DEADLINE=600 scripts/test.sh --sanitize=thread --scratch-path .build-tsan

# Without its search for leaks, which does not see the pointers that Swift keeps beside an enum's bits.
asan: setup ## Runs the tests under AddressSanitizer
	ASAN_OPTIONS=detect_leaks=0:suppressions=$(CURDIR)/scripts/asan.suppressions LARDER_TEST_DEADLINE=600 scripts/test.sh --sanitize=address --scratch-path .build-asan

clean: ## Removes everything that was built
	rm -rf .build .build-optimised .build-tsan .build-asan
