# Everything runs from .venv, which tools/setup.sh makes and keeps up to date: nothing has to be installed by hand.

DEMO := seed-1-development seed-2-mid-size seed-3-large h200-ppo-lora
PYTHON ?=
export PYTHON

.PHONY: help demo test lint clean
# demo, test and lint share one .venv, which two pips at a time would break.
.NOTPARALLEL:

help: ## Say what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' Makefile
	@echo 'PYTHON=python3.12 chooses the Python; ARGS="-k name" goes to pytest.'

demo: ## Build the example workbooks and reports into out/
	@sh tools/setup.sh report
	.venv/bin/memsheet build $(DEMO) --out out

test: ## Run the quick tests
	@sh tools/setup.sh test
	.venv/bin/python -m pytest $(ARGS)

lint: ## Check style (ruff) and types (mypy)
	@sh tools/setup.sh lint
	.venv/bin/python -m ruff check
	.venv/bin/python -m mypy memsheet/

clean: ## Remove out/, built packages and caches; .venv stays
	rm -rf out build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -path ./.venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
