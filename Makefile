# Everything runs in .venv, which the first target to need it sets up from requirements.txt.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
PORT ?= 8000

# One thread per process: results never depend on the thread count, and two test workers fit two cores.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
# Text is UTF-8, in every process. alembic, which nbgrader uses, asks the locale and not Python: so both are set.
export PYTHONUTF8 := 1
ifneq ($(shell locale charmap 2>/dev/null),UTF-8)
export LC_ALL := C.UTF-8
endif
# What libraries keep in the home folder (fonts, connections, caches) goes into _build if it cannot be written to.
ifneq ($(shell test -w "$$HOME" && echo writable),writable)
export HOME := $(CURDIR)/_build/home
$(shell mkdir -p "$(CURDIR)/_build/home")
endif

.DEFAULT_GOAL := help
.PHONY: help setup book pdf serve quick test mutate browser course portable ranges lint execute reproduce verify assignments grade lab bench requirements clean

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## */\1|/' | awk -F'|' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: $(READY)  ## set up .venv with the tested versions (the other targets do this by themselves)

$(READY): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("This project needs Python 3.11 or newer; try: make PYTHON=python3.11 ..." if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

book: $(READY)  ## build the book into _build/html; any warning is an error
	$(BIN)/jupyter-book build --all --warningiserror --nitpick --keep-going --quiet .
	@echo "The book: point the browser at file://$(CURDIR)/_build/html/index.html, or run make serve"

pdf: book  ## build the book and print it into one PDF, _build/html/slnp-step-by-step.pdf (needs chromium)
	$(BIN)/python tools/author_pdf.py

serve: $(READY)  ## serve the built book on this machine and print the address (another port: make serve PORT=8123)
	@test -f _build/html/index.html || $(MAKE) book
	@echo "The book: http://localhost:$(PORT)/  (stop with Ctrl-C)"
	@$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html 2>/dev/null \
	  || { echo "Cannot serve there: is port $(PORT) taken? Try: make serve PORT=8123"; exit 1; }

quick: lint  ## the inner loop, under a minute on two quiet cores: lint and the tests of the method and the evidence, but the slow ones
	$(BIN)/python -m pytest -q -n 2 -m "not slow" tests/method tests/study slnp_edu slnp_study

test: lint  ## run the tests: lint, unit tests, doctests, the texts, every notebook cell; report coverage
	$(BIN)/python -m pytest -n 2 --dist loadscope -m "not course" --cov --cov-report=term --ignore-glob 'tests/site/test_browser*' tests slnp_edu slnp_study
	$(BIN)/python -m pytest -n 2 --dist loadscope book

mutate: $(READY)  ## change the module in one place after the other and see whether its tests notice; hours (not in CI; ONLY="slnp_edu.steps.*": of one file)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "mutmut>=3.8,<4"
	$(BIN)/mutmut run $(if $(ONLY),"$(ONLY)"); $(BIN)/mutmut results

browser: book  ## build the book and look at every page in a real browser (needs chromium; FEW=1: at one of every kind, as CI does)
	$(BIN)/python -m pytest -n 2 --dist loadgroup $(if $(FEW),-m "not whole") tests/site/test_browser*.py -k "not slow_machine"
	$(if $(FEW),,$(BIN)/python -m pytest tests/site/test_browser_pages.py -k slow_machine)
	@echo "What each page looks like: _build/screenshots"

course: $(READY)  ## attack the grading: hostile notebooks, pages in chromium, a busy machine (needs bubblewrap)
	$(BIN)/python -m pytest -n 2 --dist loadscope -m course tests

portable: $(READY)  ## run the notebooks and some of the records as other processors would, about half an hour (FEW=1: on two of them, the records of the tables only)
	$(BIN)/python tools/release_portable.py $(if $(FEW),--few)

ranges: $(READY)  ## run the module's tests with the lowest versions that pyproject.toml allows, and the newest
	$(BIN)/python tools/release_ranges.py

lint: $(READY)  ## ruff (notebooks included), mypy and codespell
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	git ls-files --cached --others --exclude-standard | xargs $(BIN)/codespell

execute: $(READY)  ## run the chapters and store their outputs (all, or one: make execute CHAPTER=04)
	$(BIN)/python tools/author_execute.py $(if $(CHAPTER),book/$(CHAPTER)*.ipynb)

reproduce: $(READY)  ## run the paper's experiments on the real data and write the records (about 25 minutes on two cores)
	$(BIN)/python -m slnp_study reproduce

verify: $(READY)  ## run a random sample of the experiments again and compare with the records (ALL=1: every one)
	$(BIN)/python -m slnp_study verify $(if $(ALL),--all)

assignments: $(READY)  ## generate the student versions of the assignments; refuse if one has drifted (UPDATE=1: write them)
	$(BIN)/python course/make_assignments.py $(if $(UPDATE),--update)

grade: $(READY)  ## grade students' notebooks: make grade SUBMISSIONS=dir (OUT=dir, REPORT=1, OPTIONS="...": see the page on grading)
	$(BIN)/python course/grade.py $(if $(SUBMISSIONS),"$(SUBMISSIONS)") $(if $(OUT),--out "$(OUT)") $(if $(REPORT),--report) $(OPTIONS)

lab: $(READY)  ## open JupyterLab on the chapters, which read there as in the book
	$(BIN)/jupyter lab book

bench: $(READY)  ## time SLNP beside other methods and beside its bare matrix products; writes slnp_study/results/speed.json
	$(BIN)/python benchmarks/bench.py

requirements:  ## re-resolve requirements.txt from the ranges in pyproject.toml
	rm -rf .venv && $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check ".[dev]"
	{ echo "# Exact versions this project is tested with. Made by 'make requirements' from pyproject.toml."; \
	  $(BIN)/python -m pip freeze --exclude slnp-edu; } > requirements.txt

clean:  ## remove what the build made, .venv included
	rm -rf .venv _build *.egg-info .coverage .pytest_cache .ruff_cache .mypy_cache .hypothesis mutants
