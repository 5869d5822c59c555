PYTHON ?= python3
export PATH := $(CURDIR)/.venv/bin:$(PATH)
UV := $(shell command -v uv 2>/dev/null)

.PHONY: demo test coverage check bench docs backends format clean

# The plain package for `demo`; all that developing needs for the rest.
.venv/bin/python:
	$(if $(UV),$(UV) venv --quiet --python $(PYTHON) .venv,$(PYTHON) -m venv .venv)
	$(if $(UV),,.venv/bin/python -m pip install --quiet --upgrade pip)  # --group needs 25.1

.venv/plain: pyproject.toml | .venv/bin/python
	$(if $(UV),$(UV) pip install --quiet --editable .,.venv/bin/python -m pip install --quiet --editable .)
	touch $@

.venv/ready: pyproject.toml | .venv/bin/python
	$(if $(UV),$(UV) pip install --quiet --editable '.[zstd]' --group dev,.venv/bin/python -m pip install --quiet --editable '.[zstd]' --group dev)
	touch $@ .venv/plain

demo: .venv/plain
	itemtrace demo

# A file stays in one process, so that a server is started once. Tests that need a backend which is
# not there skip with the reason; ITEMTRACE_REQUIRE_BACKENDS=1 makes that a failure.
test: .venv/ready
	python -m pytest -n auto --dist loadfile $(PYTEST)

coverage: .venv/ready
	coverage erase
	coverage run -m pytest
	coverage combine --quiet
	coverage report

check: .venv/ready
	ruff check
	ruff format --check
	mypy
	pyright
	lint-imports --no-cache
	python tools/docs.py --check
	python tools/dashboards.py --check

docs: .venv/ready
	python tools/docs.py
	python tools/dashboards.py

format: .venv/ready
	ruff check --fix
	ruff format

bench: .venv/ready
	python -m benchmarks

# Jaeger and a Collector, from source into a cache; nothing to do once they are there.
backends:
	$(PYTHON) tools/backends.py

clean:
	rm -rf .venv .cache dist build
