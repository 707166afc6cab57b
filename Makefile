# make audit                                  audit the specimen: see what a report looks like
# make audit DATA=train.jsonl TEST=test.jsonl audit your own files; with RUNS=runs ELSEWHERE=far.jsonl all questions
# make test                                   run the whole test suite
# make docs                                   build the documentation as a site, into build/docs

PYTHON ?= python3
OUT ?= goldassay-report
SPECIMEN ?= specimen
DATA ?=
TEST ?=
RUNS ?=
ELSEWHERE ?=
PYTEST ?=

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: audit test lint slow foreign fuzz mutants ledger release docs notebooks pictures install clean

audit: .venv/.installed
ifeq ($(DATA),)
	@$(BIN)/goldassay specimen --quiet -o $(SPECIMEN)
	@$(BIN)/goldassay audit $(SPECIMEN)/train.jsonl --test $(SPECIMEN)/test.jsonl --runs $(SPECIMEN)/runs \
		--elsewhere $(SPECIMEN)/elsewhere.jsonl -o $(OUT)
else
	@$(BIN)/goldassay audit "$(DATA)" $(if $(TEST),--test "$(TEST)") $(if $(RUNS),--runs "$(RUNS)") \
		$(if $(ELSEWHERE),--elsewhere "$(ELSEWHERE)") -o $(OUT)
endif

# Many tests are processes of their own, and torch takes twice as long to load where nothing compiled is kept. Two
# processes fill two cores: further threads of the libraries within them would only wait for each other.
test: .venv/.tested
	@sh scripts/install-chromium
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	    $(BIN)/python -m pytest -n 2 --dist worksteal --durations=20 $(PYTEST)

# What takes longer than the everyday suite may.
slow: .venv/.tested
	GOLDASSAY_EXAMPLES=120 $(BIN)/python -m pytest -m "slow or hypothesis" --timeout 3600 $(PYTEST)

# The newest inspect_ai, lm-eval, lighteval, HELM, transformers and evaluate write logs, each in an environment of its own, and
# figures read from them are held against those that they print. TOOLS names some of them.
TOOLS ?=
foreign: .venv/.tested
	@sh scripts/write-foreign $(TOOLS)
	$(BIN)/python -m pytest -m foreign tests/foreign --timeout 600 $(PYTEST)

# Mutated files through the command's entry point, for so many minutes; findings are kept in build/fuzz.
MINUTES ?= 10
fuzz: .venv/.tested
	OMP_NUM_THREADS=1 POLARS_MAX_THREADS=1 $(BIN)/python -m tests.hostile.fuzz $(MINUTES)

# Changes the source at N random places, one at a time, in a copy, and counts what the tests notice: build/mutants-SEED.json.
N ?= 60
SEED ?= 0
mutants: .venv/.tested
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python scripts/mutants.py --n $(N) --seed $(SEED)

# What every command and the public functions gave for small inputs at the commit BASE, and what they give now.
BASE ?= HEAD
ledger: .venv/.tested
	@$(BIN)/python -m tests.agreement.ledger between $(BASE) $(LEDGER)

# Builds wheel and sdist, and uses them in a fresh environment of every Python from 3.11 on that is there.
release: .venv/.installed
	@$(BIN)/python scripts/release.py

lint: .venv/.tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python scripts/check_words.py

# Runs the notebooks unless the same ones were run with the same package, and fails at the first warning.
docs: .venv/.documented
	@$(BIN)/sphinx-build -q -W --keep-going -b html docs build/docs
	@echo build/docs/index.html

install: .venv/.installed

# Everything is pinned, and the package itself is built with the pinned build tool.
.venv/.installed: requirements/run.txt pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing goldassay and what it needs into .venv"
	@$(PIP) install -r requirements/run.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

.venv/.tested: .venv/.installed requirements/test.txt requirements/train.txt
	@echo "installing what the tests need into .venv"
	@$(PIP) install --no-compile -r requirements/test.txt
	@touch $@

.venv/.documented: .venv/.installed requirements/docs.txt
	@echo "installing what the documentation needs into .venv"
	@$(PIP) install --no-compile -r requirements/docs.txt
	@touch $@

clean:
	rm -rf .venv build dist $(OUT) $(SPECIMEN)

# The notebooks' outputs, kept in them for those who read them where nothing runs; a test holds them to their code.
notebooks: .venv/.installed
	$(BIN)/python scripts/run_notebooks.py

# The documentation's pictures, made by the code they show: those of the pages, and the README's.
pictures: docs/images/report.png
	$(BIN)/python scripts/draw_pictures.py
	$(BIN)/python scripts/picture_of_view.py

docs/images/report.png: .venv/.installed
	@$(MAKE) --no-print-directory audit OUT=goldassay-report-picture >/dev/null
	@mkdir -p docs/images
	chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1.5 \
	    --window-size=1280,1180 --screenshot=$@ "file://$(CURDIR)/goldassay-report-picture/report.html"
	@rm -rf goldassay-report-picture
