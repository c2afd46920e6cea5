# Two commands do everything on a fresh machine: `make demo` and `make test`. Each sets up its environment if needed.
PYTHON ?= python3.11
VENV := .venv
STAMP := $(VENV)/.attnvat-ready
BIN := $(VENV)/bin

.PHONY: setup demo test clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt torch==2.13.0
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev,hf,demo,tensorboard,neighbours,ray,transformer]'
	@# Annoy has no wheels: it is built where there is a compiler, and its tests and figures are left out elsewhere.
	-$(BIN)/pip install --quiet --constraint constraints.txt annoy || echo "annoy could not be built; going on without it"
	touch $@

demo: setup
	$(BIN)/attnvat demo

test: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache
