# make demo and make test set up what they need in .venv first; `make help` lists everything.

PYTHON ?= python3
ASSIGNMENTS = week08 names_lab
ASSIGNMENT ?= week08
KIT = .venv/bin/python -m
READY = .venv/installed
# Files that take long begin first; see tests/kit/conftest.py.
SIDE_BY_SIDE = --numprocesses=auto --dist=loadfile --no-loadscope-reorder

# Results must not depend on the shell that make was called from.
export OMP_NUM_THREADS = 1
unexport PYTHONPATH PYTHONHOME PIP_USER PIP_TARGET PIP_PREFIX PYTEST_ADDOPTS

.DEFAULT_GOAL = help
.PHONY: help demo test suites quick-look browser lint verify bench bench-class bench-peers chaos release clean elsewhere

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' Makefile

demo: $(READY) ## release week08, grade a sample class of 13, print the table
	@.venv/bin/autograder release week08
	@.venv/bin/autograder grade week08 data/sample_class || [ $$? -eq 1 ]
	@echo
	@echo 'Next: .venv/bin/autograder show mira            all right, in her own way'
	@echo '      .venv/bin/autograder show hugo            a classic mistake by its name, and what he is told'
	@echo '      .venv/bin/autograder show felix           an endless loop costs what it touches'
	@echo '      .venv/bin/autograder show mira --instructor'

test: $(READY) ## ruff, mypy, the suites against the solutions and the mistakes, the kit's own tests
	@$(MAKE) --no-print-directory --jobs=2 --output-sync quick-look lint suites
	@$(KIT) pytest $(SIDE_BY_SIDE)

suites: $(READY) ## the suites against the solutions
	@for name in $(ASSIGNMENTS); do $(KIT) pytest "tests/suites/$$name" || exit; done

browser: $(READY) ## workbook, formgrader and quiz page in a real Chromium; PICTURES=docs/img keeps the screenshots
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || \
	    { echo 'chromium and chromedriver are needed: apt-get install chromium chromium-driver' >&2; exit 2; }
	@$(KIT) pip install -qq --progress-bar off --disable-pip-version-check -c constraints.txt -e '.[browser]'
	@$(KIT) pip install -qq --progress-bar off --disable-pip-version-check -c constraints.txt --no-deps axe-playwright-python
	@$(if $(PICTURES),PICTURES=$(PICTURES)) $(KIT) pytest tests/browser --durations=4 $(SIDE_BY_SIDE)

quick-look: $(READY)
	@.venv/bin/autograder verify week08 --seeds 2 --one-in 30

lint: $(READY) ## ruff and mypy
	@$(KIT) ruff check
	@$(KIT) ruff format --check
	@$(KIT) mypy

verify: $(READY) ## prove the checks with five seeds, and write the kill matrix (ASSIGNMENT=week08)
	@.venv/bin/autograder verify $(ASSIGNMENT) --write

bench-class: $(READY) ## a class of a thousand: how fast, how much memory, and again unchanged
	@.venv/bin/python tests/bench/bench_class.py

bench-peers: $(READY) ## nbgrader, otter and pytest beside ours; PEERS_BENCH=FOLDER of their benchmark
	@.venv/bin/python tests/bench/bench_peers.py $(if $(OTTER),--path $(OTTER)/bin)

chaos: $(READY) ## a class while processes are killed at random: the table is the same
	@.venv/bin/python tests/bench/chaos.py

bench: $(READY) ## how fast it grades, beside bare checks and a pytest process per submission
	@.venv/bin/python tests/bench/bench_confinement.py
	@.venv/bin/python tests/bench/bench_grading.py
	@.venv/bin/python tests/bench/bench_notebooks.py

release: $(READY) ## cut the students' files of all assignments again
	@for name in $(ASSIGNMENTS); do .venv/bin/autograder release "$$name" || exit; done
	@for stub in data/sample_class/sven/*.py; do cp "assignments/week08/$${stub##*/}" "$$stub"; done

clean: ## remove .venv and what tools left behind; the receipts in .autograder stay
	@rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find autograder solutions reference assignments tests data -name __pycache__ -prune -exec rm -rf {} +

# The programs in a .venv know its place: after a move of this folder they have to be made again.
ifneq "$(shell cat $(READY) 2>/dev/null)" "$(CURDIR)"
$(READY): elsewhere
endif

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null || \
	    { echo 'Python 3.11, 3.12 or 3.13 is needed; name one: make PYTHON=/path/to/python3.12' >&2; exit 2; }
	@echo 'installing into .venv (a minute or two, once) ...'
	@[ "$$(cat $(READY) 2>/dev/null)" = "$$(pwd -P)" ] || rm -rf .venv
	@[ -x .venv/bin/python ] || $(PYTHON) -m venv .venv >/dev/null 2>&1 || \
	    { $(PYTHON) -m venv --clear --without-pip .venv && $(PYTHON) -m pip --python .venv/bin/python install -qq pip; }
	@$(KIT) pip install -qq --progress-bar off --disable-pip-version-check --no-compile -c constraints.txt -e '.[dev,instructor,postgresql,cluster]'
	@$(KIT) compileall -qq -j 0 .venv/lib || true  # by all cores; some files of some packages are no Python
	@pwd -P > $(READY)
