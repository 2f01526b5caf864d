# `make demo` and `make test` need Python 3.11 or newer, make, and the package index that pip is set up with. Nothing else.
VENV ?= .venv
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
FILES := pyproject.toml constraints.txt Makefile
JOBS ?= 2

.PHONY: help demo up test check docs clean
help:  ## what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer was not found: install it, or run make PYTHON=/where/it/is"; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(FILES) | $(BIN)/python
	$(PIP) -e .
	@touch $@

$(VENV)/.installed-tests: $(FILES) | $(BIN)/python
	$(PIP) -e '.[test]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-checks: $(FILES) | $(BIN)/python
	$(PIP) -e '.[test,check]'
	@touch $@ $(VENV)/.installed $(VENV)/.installed-tests

demo: $(VENV)/.installed  ## replay a conversation of three agents and watch their memories form
	@$(BIN)/om demo

up: $(VENV)/.installed  ## run everything for real use, on an embedded store unless OM_REDIS_URL is set
	@$(BIN)/om up

test: $(VENV)/.installed-tests  ## run all tests
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup

check: $(VENV)/.installed-checks  ## the one gate: style, types, Lua, arrows between rooms, tests, the ten longest functions
	$(BIN)/ruff check om_api om_workers tests .ci
	$(BIN)/ruff format --check om_api om_workers tests .ci
	$(BIN)/mypy
	@if command -v luacheck >/dev/null; then luacheck --quiet --std lua51 --read-globals redis KEYS ARGV --no-max-line-length om_api/store/lua; \
	else echo "luacheck is not installed: tests/om_api/store/test_scripts.py compiles every script and finds its globals"; fi
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup
	@$(BIN)/python .ci/longest.py

docs: $(VENV)/.installed  ## write the generated documents again
	$(BIN)/python -m om_api.settings.docs --write

clean:  ## remove what was installed and built
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
