# Needs Python 3.11 or newer and make, nothing else. `make help` lists what there is.

PORT ?= 8000
WORKERS ?= 2
CARRIER ?= simulator
# More than the two cores of a small machine: a test that starts processes waits for them half of its time.
TEST_JOBS ?= 3
TESTS ?=
ALL ?=
SHUFFLE ?=
DAYS_AHEAD ?=
SEEDS ?= 500
RUNS ?= 1000000
SEED ?= 0
FIRST ?= 0
BENCH ?= all
CASES ?= 10000
SHORT ?=
ONLY ?=
SECONDS ?= 60
# An earlier revision; from 1.0.0 on, its migrations let running processes go on.
FROM ?= 84bb94a9

# Without bytecode, every process that a test starts would compile the project again.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install --progress-bar off --no-deps --require-hashes --requirement
# What runs the service; and with it what tests and checks it.
RUN_LOCKED := $(VENV)/.run-locked
RUN_READY := $(VENV)/.run-ready
LOCKED := $(VENV)/.locked
READY := $(VENV)/.ready
PIN := $(BIN)/python -m uv pip compile --universal --python-version 3.11 \
	--generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links --quiet
COMPILE := $(PIN) pyproject.toml --group build

.DEFAULT_GOAL := help
.PHONY: help run test million npm peers partitions containers pooler rabbitmq kubernetes observe alerts crashpoints faults failover hostile carriers fuzz schemathesis simulate next mutations texts browser upgrade pictures docs sbom clients bench check lint types format lock clean

help: ## List the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | column -t -s '|' 2>/dev/null \
		|| sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1  \2/p' $(firstword $(MAKEFILE_LIST))

run: $(RUN_READY) ## Run the whole service here: make run PORT=8000 CONSOLE_PORT=8001 WORKERS=2 CARRIER=smpp
	@exec $(BIN)/bulksms up --port $(PORT) --workers $(WORKERS) --carrier $(or $(CARRIER),simulator) \
		$(if $(CONSOLE_PORT),--console-port $(CONSOLE_PORT))

# Of the tests: without the slow ones, in the random order of a seed, and with the clock ahead.
SELECTION = $(if $(TESTS)$(ALL),,--without-slow)
IN_ORDER = $(if $(SHUFFLE),--random-order-seed=$(SHUFFLE))
CLOCK_SHIM := var/clock.so
CLOCK = $(if $(DAYS_AHEAD),LD_PRELOAD=$(CURDIR)/$(CLOCK_SHIM) CLOCK_OFFSET=$$(( $(DAYS_AHEAD) * 86400 )))

test: $(READY) $(if $(DAYS_AHEAD),$(CLOCK_SHIM)) ## Run the tests: make test ALL=1, or TESTS=tests/unit SHUFFLE=1 DAYS_AHEAD=365
	@$(BIN)/python -m compileall -q api worker shared bulksms  # or each process of the tests would do it by itself
	$(CLOCK) $(BIN)/python -m pytest -n $(TEST_JOBS) --dist loadfile --no-loadscope-reorder $(SELECTION) $(IN_ORDER) $(TESTS)

$(CLOCK_SHIM): tests/faults/clock.c
	@mkdir -p $(@D)
	$(CC) -O2 -Wall -shared -fPIC -o $@ $< -ldl

crashpoints: $(READY) ## Kill, stop and fail at every crash point in the code
	$(BIN)/python -m pytest -m "crashpoints or not crashpoints" tests/crashpoints

faults: $(READY) ## Break everything, one fault at a time, for about half an hour
	$(BIN)/python -m pytest -q -m "faults or not faults" tests/faults

failover: $(READY) ## Promote a standby twenty times of each kind, and restore a lost server, under load, for about half an hour
	$(BIN)/python -m pytest -q -s -m "failover or not failover" tests/failover

upgrade: $(READY) ## Replace the code of an earlier revision with this one under load; needs git: make upgrade FROM=84bb94a9
	@[ -d var/upgrade/$(FROM) ] || git worktree add --quiet --detach var/upgrade/$(FROM) $(FROM)
	@env -u MAKEFLAGS $(MAKE) --no-print-directory --directory var/upgrade/$(FROM) .venv/.run-ready
	UPGRADE_FROM=var/upgrade/$(FROM) $(BIN)/python -m pytest -q -s -m upgrade tests/upgrade

partitions: $(READY) ## Cut every link between hosts under load, as network namespaces, for about a quarter of an hour; needs root
	$(BIN)/python -m pytest -q -s -m "partitions or not partitions" tests/partitions

containers: $(READY) ## Build and run the containers as the documentation says, under load; needs Docker with Compose, as root
	$(BIN)/python -m tests.containers.proof

hostile: $(READY) ## Attack the service beside a victim, for an hour: make hostile SECONDS=60 ONLY=never,slow
	$(BIN)/python -m tests.hostile.run --seconds $(SECONDS) $(if $(ONLY),--only "$(ONLY)")
	$(if $(ONLY),,$(BIN)/python -m tests.hostile.over_smpp --seconds $(SECONDS))

million: $(READY) ## Import a million contacts from one file
	$(BIN)/python -m pytest -q -m million tests/services/jobs/test_import_million.py

npm: $(READY) ## Try webhooks, OpenAPI and OIDC with npm packages; needs node, npm and a network
	$(BIN)/python -m pytest -m npm tests

schemathesis: $(READY) ## Test what the OpenAPI document allows and forbids: make schemathesis CASES=10000
	$(BIN)/python -m tests.contract.run --cases $(CASES)

fuzz: $(READY) ## Feed malformed input to everything that reads a carrier, and to the SMPP server: make fuzz RUNS=1000000 SEED=0
	$(BIN)/python -m tests.fuzz --runs $(RUNS) --seed $(SEED)
	$(BIN)/python -m tests.fuzz --over-smpp --runs $(RUNS) --seed $(SEED)

peers: $(READY) ## Try SMPP and Kannel's API with other implementations: npm's smpp (installed from its lock) and Kannel
	npm ci --prefix tests/peers/node --ignore-scripts --no-audit --no-fund
	$(BIN)/python -m pytest -q -m peers tests/peers

pooler: $(READY) ## Run the service behind a real PgBouncer, which must be installed
	$(BIN)/python -m pytest -q -m pooler tests/pooler

rabbitmq: $(READY) ## Run the service with a cluster of RabbitMQ, which must be installed
	$(BIN)/python -m pytest -q -m rabbitmq tests/rabbitmq

kubernetes: $(READY) ## Check the manifests of deploy/kubernetes against the Kubernetes schemas, which take 110 MB
	@[ -x $(VENV)-kubernetes/bin/kubernetes-validate ] || { $(BIN)/python -m venv --clear $(VENV)-kubernetes \
		&& $(VENV)-kubernetes/bin/python -m pip --disable-pip-version-check install --quiet kubernetes-validate==1.37.0; }
	$(VENV)-kubernetes/bin/kubernetes-validate --strict --quiet --no-warn -k 1.29 deploy/kubernetes/*.yaml
	$(VENV)-kubernetes/bin/kubernetes-validate --strict --quiet --no-warn -k 1.37 deploy/kubernetes/*.yaml

observe: $(READY) ## Watch the service of `make run` with Prometheus, which must be installed, on port 9090: make observe PORT=8000
	@mkdir -p var/prometheus
	@for file in prometheus.yml rules.yml; do \
		sed 's/localhost:8000/localhost:$(PORT)/' deploy/observe/$$file > var/prometheus/$$file; done
	prometheus --config.file=var/prometheus/prometheus.yml --storage.tsdb.path=var/prometheus \
		--web.listen-address=127.0.0.1:9090

alerts: $(READY) ## Test the rules with promtool, and break a running service until each alert fires in Prometheus
	$(BIN)/python -m pytest -q -m prometheus tests/unit/project/test_observe.py tests/observe

carriers: $(READY) ## Measure rates, failover, throttling and fair shares at simulated SMSCs
	$(BIN)/python -m pytest -q -s -m "carriers or not carriers" tests/carriers

simulate: $(READY) ## Simulate faults, seed by seed: make simulate SEEDS=2000 FIRST=0
	$(BIN)/python -m pytest -q -m "simulation or not simulation" tests/simulation
	$(BIN)/python -m tests.simulation.run --seeds $(SEEDS) --first $(FIRST)
	$(BIN)/python -m tests.simulation.run --seeds $$(( ($(SEEDS) + 9) / 10 )) --first $(FIRST) --database-crashes
	$(BIN)/python -m tests.simulation.run --seeds $$(( ($(SEEDS) + 4) / 5 )) --first $(FIRST) --shared-phones 0.8
	$(BIN)/python -m tests.simulation.run --seeds $$(( ($(SEEDS) + 4) / 5 )) --first $(FIRST) --smpp 20

next: $(READY) ## Run the tests without servers on the newest versions of all dependencies, pre-releases too
	$(BIN)/python -m venv --clear $(VENV)-next
	$(BIN)/python -m tests.newest > $(VENV)-next/requirements.txt
	$(VENV)-next/bin/python -m pip --disable-pip-version-check install --quiet --pre --requirement $(VENV)-next/requirements.txt
	$(VENV)-next/bin/python -m pip --disable-pip-version-check install --quiet --no-deps --no-build-isolation --editable .
	$(VENV)-next/bin/python -m pytest -n $(TEST_JOBS) --dist loadfile $(or $(TESTS),tests/unit tests/integration)

mutations: $(READY) ## Break each guarantee and each check with a small change: make mutations KIND=owners ONLY=webhooks
	$(BIN)/python -m tests.mutations.run $(if $(KIND),--kind "$(KIND)") $(if $(ONLY),--only "$(ONLY)")

texts: $(READY) ## Collect the console's texts, and compile their translations
	$(BIN)/python -m console.texts

browser: $(READY) ## Open the console in Chromium, which must be installed, and check every page with axe-core
	$(BIN)/python -m pytest -q -m "browser or not browser" tests/browser

pictures: $(READY) ## Take the pictures of the console for the documentation; needs Chromium
	$(BIN)/python -m tests.browser.pictures

docs: $(READY) ## Build the documentation site into site/, where the API finds it and serves it at /docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict

sbom: $(READY) ## Write the service's bill of materials to var/sbom.cdx.json (CycloneDX)
	@mkdir -p var
	@[ -x $(VENV)-sbom/bin/cyclonedx-py ] || { $(BIN)/python -m venv --clear $(VENV)-sbom \
		&& $(VENV)-sbom/bin/python -m pip --disable-pip-version-check install --quiet cyclonedx-bom==7.5.0; }
	@$(VENV)-sbom/bin/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible \
		--output-file var/sbom.cdx.json requirements-server.lock

clients: $(READY) ## Regenerate the files of clients/ from the OpenAPI document
	$(BIN)/python -m clients.making

bench: $(READY) ## Measure: make bench BENCH=bulk SHORT=1 ROUNDS=3 (docs/notes/benchmarks.md)
	$(BIN)/python -m bench $(BENCH) $(if $(SHORT),--short) $(if $(ROUNDS),--rounds $(ROUNDS))

check: lint types test ## Lint, format, types and tests: make check ALL=1

lint: $(READY) ## Ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## Mypy, strict
	$(BIN)/mypy

format: $(READY) ## Format every file
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(READY) ## Resolve the dependencies again; UPGRADE=1 takes newer versions
	@$(BIN)/python -c 'import uv' 2>/dev/null || $(PIP) install --quiet uv
	$(COMPILE) $(if $(UPGRADE),--upgrade) --group docs --all-extras --output-file requirements.lock
	$(COMPILE) --constraint requirements.lock --extra embedded --extra traces --output-file requirements-run.lock
	$(COMPILE) --constraint requirements.lock --extra traces --output-file requirements-server.lock
	$(PIN) --group docs --constraint requirements.lock --output-file requirements-docs.lock

clean: ## Remove the virtual environment and caches; var/ (your data) stays
	rm -rf $(VENV) $(VENV)-next $(VENV)-kubernetes $(VENV)-sbom build site *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -not -path './var/*' -prune -exec rm -rf {} +

# All stamps are written last, so an interrupted install is done again from its start.
$(READY): $(LOCKED) pyproject.toml
	@$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@ $(RUN_READY)

$(RUN_READY): $(RUN_LOCKED) pyproject.toml
	@$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# Where the packages that run the service are there already, only the others come to them.
$(LOCKED): requirements.lock
	@[ $(RUN_LOCKED) -nt requirements-run.lock ] || { $(MAKE_VENV); }
	@$(INSTALL) requirements.lock
	@touch $@ $(RUN_LOCKED)

$(RUN_LOCKED): requirements-run.lock
	@[ $(LOCKED) -nt requirements.lock ] || { $(MAKE_VENV) && $(INSTALL) $<; }
	@touch $@

define MAKE_VENV
python=; for candidate in $(PYTHON) python3.11 python3 python3.14 python3.13 python3.12; do \
	if $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	then python=$$candidate; break; fi; done; \
if [ -z "$$python" ]; then \
	echo 'Python 3.11 or newer is needed, and no python3 here is one.' >&2; \
	echo 'Install it (Debian, Ubuntu: apt-get install python3.11 python3.11-venv) and run make again.' >&2; \
	exit 1; fi; \
echo "Making $(VENV) with $$($$python --version) (once, about a minute) ..."; \
$$python -m venv --clear $(VENV)
endef
