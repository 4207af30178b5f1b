# Everything runs in .venv, which the first target to need it sets up with the versions of requirements.txt.
PYTHON ?= python3
TESTED := 3.11, 3.12, 3.13
BIN := .venv/bin
READY := .venv/.ready
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
FREEZE := $(BIN)/python -m pip freeze --all --exclude pip --exclude slnp-edu
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadscope
PORT ?= 8000

# One thread per process: results never depend on the thread count, and two test workers fit two cores.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
# Text is UTF-8, in every process. alembic, which nbgrader uses, asks the locale and not Python: so both are set.
export PYTHONUTF8 := 1
export LC_ALL := $(if $(filter UTF-8,$(shell locale charmap 2>/dev/null)),$(LC_ALL),C.UTF-8)
# What libraries keep in the home folder (fonts, connections, caches) goes into _build if it can't be written to.
ifneq ($(shell test -w "$$HOME" && echo writable),writable)
export HOME := $(shell mkdir -p _build/home && cd _build/home && pwd)
endif

.PHONY: help $(shell sed -nE 's/^([a-z]+):.*## .*/\1/p' Makefile)
help:
	@sed -nE 's/^## (.*)/\1||/p; s/^([a-z]+):.*## (.*)/|\1|\2/p' Makefile \
	  | awk -F '|' '$$1 {who = $$1; next} {printf "%-10s make %-12s %s\n", who, $$2, $$3; who = ""}'

$(READY): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; now = "%d.%d" % sys.version_info[:2]; now in "$(TESTED)".split(", ") \
	  or print("This is Python %s. We test $(TESTED). If it fails, try: make PYTHON=python3.11 ..." % now)'
	$(PYTHON) -m venv .venv
	$(INSTALL) --requirement requirements.txt --editable .
	@touch $@

# What only some targets need is an extra in pyproject.toml. It's installed when one of them is first called.
.venv/.with-%: $(READY) constraints.txt
	@echo "This target needs the extra '$*' of pyproject.toml: installing it into .venv, once."
	$(INSTALL) --constraint requirements.txt --constraint constraints.txt --no-build-isolation --editable ".[$*]"
	@touch $@

## reader
setup: $(READY)  ## set up .venv (each target does that by itself)
book: $(READY)  ## build the book into _build/html
	$(BIN)/jupyter-book build --all --warningiserror --nitpick --keep-going --quiet .
	@echo "The book: point the browser at file://$(CURDIR)/_build/html/index.html, or run make serve"
serve: $(READY)  ## show the built book in a browser (or: PORT=8123)
	@test -f _build/html/index.html || $(MAKE) book
	@echo "The book: http://localhost:$(PORT)/  (stop with Ctrl-C)"
	@$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html 2>/dev/null \
	  || { echo "Cannot serve there: is port $(PORT) taken? Try: make serve PORT=8123"; exit 1; }
pdf: book .venv/.with-browser  ## print the book into one PDF (needs chromium)
	$(BIN)/python tools/author_pdf.py
lab: .venv/.with-lab  ## open the chapters in JupyterLab
	$(BIN)/jupyter lab book

## author
lint: $(READY)  ## ruff (notebooks included) and codespell
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	git ls-files --cached --others --exclude-standard | xargs $(BIN)/codespell
quick: lint  ## lint, the fast tests of the method and the study
	$(BIN)/python -m pytest -q -n 2 -m "not slow" tests/method tests/study slnp_edu slnp_study
test: lint  ## lint, tests, every cell of every notebook
	$(PYTEST) --cov --cov-report=term --ignore tests/course --ignore-glob 'tests/site/test_browser*' tests slnp_edu slnp_study
	$(PYTEST) book
types: .venv/.with-types  ## mypy
	$(BIN)/mypy
numbers: $(READY)  ## write the numbers that pages quote from the records
	$(BIN)/python tools/author_numbers.py
execute: $(READY)  ## run the chapters, or one, and store (CHAPTER=04)
	$(BIN)/python tools/author_execute.py $(if $(CHAPTER),book/$(CHAPTER)*.ipynb)
browser: book .venv/.with-browser  ## look at every page in chromium (FEW=1: at a few)
	$(BIN)/python -m pytest -n 2 --dist loadgroup $(if $(FEW),-m "not whole") tests/site/test_browser*.py
	@echo "What each page looks like: _build/screenshots"

## teacher
assignments: .venv/.with-course  ## check the students' versions (UPDATE=1: write)
	$(BIN)/python course/make_assignments.py $(if $(UPDATE),--update)
grade: .venv/.with-course  ## grade what came back: make grade SUBMISSIONS=dir
	$(BIN)/python course/grade.py $(if $(SUBMISSIONS),"$(SUBMISSIONS)") $(if $(OUT),--out "$(OUT)") $(if $(REPORT),--report) $(OPTIONS)
course: .venv/.with-course .venv/.with-browser  ## test assignments and grading (needs bubblewrap)
	$(PYTEST) tests/course

## maintainer
reproduce: $(READY)  ## run the paper's experiments, write the records
	$(BIN)/python -m slnp_study reproduce
verify: $(READY)  ## run a sample of them again, compare (ALL=1: all)
	$(BIN)/python -m slnp_study verify $(if $(ALL),--all)
bench: $(READY)  ## time SLNP beside other methods; writes speed.json
	$(BIN)/python benchmarks/bench.py
cluster: .venv/.with-cluster  ## test the experiments on a Dask cluster
	$(PYTEST) tests/study/test_running.py -k cluster
mutate: .venv/.with-mutate  ## break the method in each place (hours; ONLY=...)
	$(BIN)/mutmut run $(if $(ONLY),"$(ONLY)"); $(BIN)/mutmut results
portable: $(READY)  ## compute as other processors would (FEW=1: as one)
	$(BIN)/python tools/release_portable.py $(if $(FEW),--few)
ranges: .venv/.with-ranges  ## test the oldest and the newest versions allowed
	failed=0; for run in 3.11/lowest-direct 3.13/highest 3.14/highest; do \
	  $(BIN)/uv run --isolated --no-project --no-python-downloads --python $${run%/*} --resolution $${run#*/} \
	    --with-editable ".[test,cluster]" python -m pytest -n 2 --dist loadscope -p no:cacheprovider \
	    -W default::DeprecationWarning tests/method tests/study slnp_edu slnp_study || failed=1; done; exit $$failed
wheel: $(READY)  ## pack the method alone into _build/method
	rm -rf _build/method && mkdir -p _build/method && cp -r slnp_edu pyproject.toml README.md LICENSE _build/method
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir _build/method _build/method
requirements:  ## choose the exact versions of all packages again
	rm -rf .venv && $(PYTHON) -m venv .venv
	$(INSTALL) ".[book,test]"
	{ echo "# What make book and make test need, exactly. Made by make requirements."; $(FREEZE); } > requirements.txt
	$(INSTALL) --constraint requirements.txt ".[all]"
	{ echo "# What the other targets add, exactly. Made by make requirements."; $(FREEZE) | grep -vxFf requirements.txt; } > constraints.txt
clean:  ## remove what was built, .venv included
	rm -rf .venv _build *.egg-info .coverage .pytest_cache .ruff_cache .mypy_cache .hypothesis mutants
