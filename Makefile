# Two commands do everything on a fresh machine:  make play  and  make test
PYTHON ?= python3
BIN := .venv/bin
VIEWER := .venv/lib/viewer
PYODIDE := .venv/lib/pyodide
# What tests need beside Python: the sandbox, its system call filter, the browser, languages to write bots in (as command=package), and a database.
SYSTEM_PACKAGES := bubblewrap libseccomp2 ssh-keygen=openssh-client chromium node=nodejs javac=default-jdk-headless gcc=gcc g++=g++ libc6-dev postgres=postgresql \
	rustc=rustc go=golang-go

.PHONY: play test setup system lint format docs clean soak

play: .venv/installed
	$(BIN)/referee play searcher evader

test: .venv/installed-dev $(VIEWER)/installed $(PYODIDE)/installed system
	@scripts/run-tests $(BIN)/python $(PYTEST_OPTIONS)

setup: .venv/installed-dev $(VIEWER)/installed $(PYODIDE)/installed

lint: .venv/installed-dev $(VIEWER)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PATH="$(CURDIR)/$(BIN):$$PATH" $(VIEWER)/node_modules/.bin/tsc --project scripts/tsconfig.json

format: .venv/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The site of the documentation: all pages, every command, and the SDK and the Python API from docstrings. A warning is an error.
docs: .venv/installed-dev
	$(BIN)/python scripts/make-docs build/docs

.venv/bin/python:
	$(PYTHON) -m venv .venv

# The package is installed in place, so that a change takes effect at once; compiling it now saves every bot's start the time.
.venv/installed: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[web]'
	$(BIN)/python -m compileall -q referee sdk example_bots
	touch $@

.venv/installed-dev: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	$(BIN)/python -m compileall -q referee sdk example_bots
	@# pytest compiles its plugins in a way of its own; kept, they cost no process of the tests a quarter of a second.
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest --help > /dev/null
	touch $@ .venv/installed

# The type check of the viewer's scripts, and what its pages are held against; from npm, which the development extra brings along.
$(VIEWER)/installed: scripts/viewer-packages | .venv/installed-dev
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/npm install --silent --no-audit --no-fund --prefix $(VIEWER) $$(cat scripts/viewer-packages)
	touch $@

# The Python of the workshop, from npm; without a network the tests that need it are skipped with its name, and the next call tries again.
$(PYODIDE)/installed: referee/workshop/pyodide.py | .venv/installed-dev
	@mkdir -p $(PYODIDE)
	$(BIN)/python -m referee.workshop.pyodide $(PYODIDE) && touch $@ || true

# Installs what is missing where it may (root on Debian or Ubuntu); elsewhere tests that need a missing part are skipped with its name.
system:
	@scripts/system-packages $(SYSTEM_PACKAGES)

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis

# The tests marked soak; then an hour of kills of all parts of matches at random moments, and of honest moves on a busy machine. Not part of CI.
soak: .venv/installed-dev $(VIEWER)/installed $(PYODIDE)/installed system
	@scripts/run-tests $(BIN)/python -m soak $(PYTEST_OPTIONS)
	$(CURDIR)/$(BIN)/python tests/soak.py $(SOAK_OPTIONS)
