# Everything starts from a bare Python: `make demo` and `make test` need nothing else.
TESTED := 3.11 3.12 3.13
IS_TESTED := import sys, ensurepip; sys.exit('%d.%d' % sys.version_info[:2] not in '$(TESTED)'.split())
FIND := for it in python3 $(TESTED:%=python%) python; do $$it -c "$(IS_TESTED)" 2>/dev/null && echo $$it && break; done
PYTHON ?= $(shell $(FIND))
BIN := .venv/bin
READY := .venv/.ready
TORCH ?= $(or $(shell cat $(READY) 2>/dev/null),cpu)
ON_ALL_CORES := -n auto --dist worksteal

.PHONY: help setup demo test lint check format bench-train bench-programs bench-translate bench-alignment bench-faithfulness bench-page bench-serve bench-waiting everyday bench-everyday notebooks pictures properties clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

setup: $(READY)  ## make .venv with everything in it, and torch without CUDA [TORCH=cuda: with]

ifneq ($(TORCH),$(or $(shell cat $(READY) 2>/dev/null),cpu))
.PHONY: $(READY)
endif
$(READY): pyproject.toml constraints.txt
	@$(if $(PYTHON),,$(error Python with venv is needed, one of $(TESTED), and none is found; \
	install one, or name it: make setup PYTHON=/path/to/it))
	@$(PYTHON) tools/install.py $(TORCH)

demo: $(READY)  ## train a translator from nothing, score it, look inside (under four minutes)
	@rm -rf build/demo
	@$(BIN)/heedful demo --out build/demo

test: $(READY)  ## run every test, those of the page in a browser
	@$(BIN)/python -m tools.browser
	$(BIN)/pytest $(ON_ALL_CORES)

properties: $(READY)  ## try every property on other examples: SEED=number
	$(BIN)/pytest $(ON_ALL_CORES) -m hypothesis --hypothesis-profile new --hypothesis-seed $(SEED)

lint: $(READY)  ## look at format, style and types, and run nothing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m tools.page_types

check: lint  ## lint and the fast tests, as before every commit
	$(BIN)/pytest $(ON_ALL_CORES) -m 'not slow'

format: $(READY)  ## put the code in shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench-train: $(READY)  ## training speed beside others: DATA=folder of Multi30k [OPTIONS="--size base --steps 4"]
	@$(BIN)/pip install -qq --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks.train $(DATA) $(OPTIONS)

bench-translate: $(READY)  ## translation speed beside others: DATA=folder of Multi30k MODEL=folder [OPTIONS="--rounds 5"]
	@$(BIN)/pip install -qq --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks.translate $(DATA) $(MODEL) $(OPTIONS)

bench-alignment: $(READY)  ## alignment error rate of every head: DATA=folder of gold alignments MODEL=folder
	$(BIN)/python -m benchmarks.alignment $(DATA) $(MODEL)

bench-serve: $(READY)  ## a server under load, beside a loop: DATA=folder of Multi30k MODEL=folder [OPTIONS="--requests 200000"]
	$(BIN)/python -m benchmarks.serve $(DATA) $(MODEL) $(OPTIONS)

bench-faithfulness: $(READY)  ## words kept where something is added: MODEL=folder [PAIRS=file.tsv, else the demo's] [WAY=en-fr]
	$(BIN)/python -m benchmarks.faithfulness $(MODEL) $(PAIRS) $(WAY)

bench-waiting: $(READY)  ## training speed beside busy programs, by how threads wait [OPTIONS="--rounds 5"]
	$(BIN)/python -m benchmarks.waiting compare $(OPTIONS)

bench-programs: $(READY)  ## training speed of whole programs: DATA=folder of Multi30k [OPTIONS="--rounds 5"]
	$(BIN)/python -m benchmarks.train_programs $(DATA) $(OPTIONS)

bench-page: $(READY)  ## speed and size of a model's page in a browser: MODEL=folder [OPTIONS="--lines file"]
	$(BIN)/python -m benchmarks.page $(MODEL) $(OPTIONS)

everyday: $(READY)  ## train the model that comes with heedful: DATA=folder of Tatoeba [MINUTES=120]
	@mkdir -p build/everyday/data && ln -sf $(abspath $(DATA))/en-*.tsv.gz build/everyday/data/
	@for to in fr de es; do test -e build/everyday/data/dates.en-$$to.tsv || \
	  $(BIN)/heedful data dates --to $$to --pairs 5000 --output build/everyday/data/dates.en-$$to.tsv || exit; done
	$(BIN)/heedful train --recipe everyday --data build/everyday/data --out build/everyday/model \
	  --minutes $(or $(MINUTES),120)

bench-everyday: $(READY)  ## quality of a model of several languages: DATA=folder of Tatoeba [MODEL=folder]
	$(BIN)/python -m benchmarks.everyday $(DATA) $(MODEL)

pictures: $(READY)  ## run the demo, and draw the pictures of the documents from it [MODEL=folder TEXT="..." for those of the page]
	@rm -rf build/demo
	$(BIN)/python -m tools.pictures build/demo
	$(BIN)/python -m tools.page_pictures $(or $(MODEL),build/demo/model) $(TEXT)

notebooks: $(READY)  ## run the notebooks, and keep what they show
	$(BIN)/python -m tools.notebooks

clean:  ## remove what was built
	rm -rf .venv build dist tools/js/node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis
