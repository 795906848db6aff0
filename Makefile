# Everything a newcomer runs. `make demo` and `make test` do all the set-up they need.
.PHONY: help demo test quick test-long check check-wheel audit clean
.DEFAULT_GOAL := help

# The wheels of .venv are this checkout's own: what the user's environment says of other packages stays out of it.
unexport PYTHONPATH PYTHONHOME
BIN := .venv/bin

help:
	@echo "make demo         set up, inflect words of five languages, train on the bundled German verbs, score"
	@echo "make test         set up, run the tests"
	@echo "make quick        the tests of a minute: no browser, kills, fuzzing, clusters or pages of docs"
	@echo "make check        ruff and mypy (strict)"
	@echo "make test-long    the tests that are too long for every day"
	@echo "make check-wheel  build the wheel, install it elsewhere, try it there"
	@echo "make audit        what is known of the versions in constraints.txt (needs a network)"
	@echo "make clean        remove .venv and everything built"

demo:
	@scripts/setup light
	@$(BIN)/reinflect demo --only words
	@scripts/setup train
	@$(BIN)/reinflect demo --only training

test:
	@scripts/setup dev
	@echo "running the tests"
	@$(BIN)/python -m pytest -n auto -m "not long"

quick:
	@scripts/setup dev
	@$(BIN)/python -m pytest -n auto -q -m "not slow and not long"

test-long:
	@scripts/setup dev
	@echo "running the long tests"
	@$(BIN)/python -m pytest -m long

check:
	@scripts/setup dev
	@echo "ruff check" && $(BIN)/ruff check .
	@echo "ruff format --check" && $(BIN)/ruff format --check .
	@echo "mypy --strict" && $(BIN)/mypy

check-wheel:
	@scripts/setup dev
	@scripts/check-wheel

audit:
	@scripts/setup dev
	@$(BIN)/python scripts/audit

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
