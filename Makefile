# Everything here works on a fresh machine with Python 3.11+, Java 17+ and Maven.
# Another interpreter: make test PYTHON=python3.13. Part of the suite: make test ARGS="-k topics".

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

OLD_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$p" -c "$(OLD_ENOUGH)" 2>/dev/null && { echo "$$p"; break; }; done)
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ARGS ?=

.PHONY: help venv lint format types test demo chaos peers bench lock clean

help: ## Show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|' 2>/dev/null \
		|| sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1: \2/p' $(MAKEFILE_LIST)

venv: $(READY) ## Make the virtual environment from requirements.lock, hashes checked

$(READY): requirements.lock pyproject.toml
	@"$(PYTHON)" -c "$(OLD_ENOUGH)" 2>/dev/null || { echo "No Python 3.11 or newer found." \
		"Install one (apt-get install python3 python3-venv, or brew install python) or name it:" \
		"make $(or $(MAKECMDGOALS),venv) PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -m venv "$(VENV)" || { echo "This Python cannot make virtual environments." \
		"On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "Installing the locked packages into $(VENV) …"
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	@# The build backend is in the lock too, so nothing is fetched that has no hash.
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

lint: $(READY) ## Check style and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

format: $(READY) ## Rewrite in the house's format
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

types: $(READY) ## Check types, strictly
	@$(BIN)/mypy

test: $(READY) ## Run all tests, with a Kafka broker that the suite starts and stops
	@$(BIN)/python -m pytest $(ARGS)

demo: $(READY) ## Play the story on a real Kafka; INTERACTIVE=1 lets you answer
	@$(BIN)/interrupt-bridge demo $(if $(INTERACTIVE),--interactive) $(ARGS)

chaos: $(READY) ## Run the long fault rounds; seeds are printed
	@$(BIN)/python -m pytest -m long -s $(ARGS)

peers: $(READY) ## Run the bridge with real agents, from locked sets in .peers; needs npm and Go
	@$(BIN)/python -m tests.peers $(ARGS)

bench: $(READY) ## Measure, and print figures with command and machine
	@$(BIN)/python -m tests.bench $(ARGS)

COMPILE = uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-annotate --no-header

lock: ## Resolve all locks anew, those of the image and of the agents too; needs uv
	@$(COMPILE) --all-extras --group dev pyproject.toml -o requirements.lock
	@$(COMPILE) -c requirements.lock pyproject.toml -o deploy/requirements-runtime.lock
	@grep -o '^hatchling==[^ ;]*' requirements.lock \
		| $(COMPILE) -c requirements.lock - -o deploy/requirements-build.lock
	@for set in current earlier; do $(COMPILE) --python-version 3.11 \
		tests/peers/sets/$$set.in -o tests/peers/sets/$$set.lock || exit 1; done

clean: ## Remove the virtual environments and all caches of this folder
	@rm -rf "$(VENV)" .peers build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
