# The two commands of the README are `make demo` and `make test`; `make help` lists the rest.

PACKAGES = pkg-config libsqlite3-dev libcurl4-openssl-dev libmicrohttpd-dev libsodium-dev libzstd-dev
TEST_PACKAGES = $(PACKAGES) sqlite3 python3

# Warnings are errors in CI only: a newer compiler must not break a user's build.
STRICT = $(if $(CI),-Xswiftc -warnings-as-errors,)
# The same flags for building and for testing, or everything is built twice.
FLAGS = $(STRICT)
RELEASE = -c release --scratch-path .build-release
THREADS = --scratch-path .build-tsan --sanitize=thread
# Simulation seeds of `make test`, and how often each situation of the merge has to come up in them.
SEEDS = 2000
SITUATIONS = 50

EXAMPLES = --package-path Examples --scratch-path .build/examples

.PHONY: help demo test check examples build-examples build dependencies format lint simulate sanitize bench soak soak-processes clean

help:
	@echo 'make demo      install what is missing, build, and run the main job on real data'
	@echo 'make test      the same, then every test'
	@echo 'make examples  the four programs of Examples/, built and run, with a server'
	@echo 'make bench     the figures of Benchmarks/README.md, each beside its peer'
	@echo 'make soak      the simulation until it is stopped, with figures every thousand seeds'
	@echo 'make soak-processes  ten minutes of real processes that are killed at random'
	@echo 'make format    format the sources;  make lint  only look'
	@echo 'make sanitize  the concurrent suites under the thread sanitizer'
	@echo 'make clean     remove what was built'

demo: dependencies
	swift build $(FLAGS) --product tombolo
	swift build $(FLAGS) --product tombolod
	Scripts/demo "$$(swift build $(FLAGS) --show-bin-path)"

test: test-dependencies demo check

check: lint consumer build-examples
	swift build $(FLAGS) --build-tests
	swift test $(FLAGS)
	$(MAKE) simulate sanitize

.PHONY: test-dependencies consumer
dependencies:
	Scripts/install-dependencies $(PACKAGES)

test-dependencies:
	Scripts/install-dependencies $(TEST_PACKAGES)

build: dependencies
	swift build $(FLAGS)

# A package beside this one, in both language modes. Built before the tests: a build inside `swift test` would wait for
# the build folder's lock for ever.
consumer:
	swift run --package-path Tests/Consumer --scratch-path .build/consumer

# A package of its own as well: what the models of an app look like, and the programs of the README. Their session is a test.
build-examples:
	swift build $(EXAMPLES)

examples: dependencies build-examples
	swift build $(FLAGS) --product tombolod
	Examples/session "$$(swift build $(FLAGS) --show-bin-path)" "$$(swift build $(EXAMPLES) --show-bin-path)"

lint:
	swift format lint --strict --parallel --recursive Package.swift Protocol Sources Client Server Simulation Tests Benchmarks Examples

format:
	swift format --in-place --parallel --recursive Package.swift Protocol Sources Client Server Simulation Tests Benchmarks Examples

# Many seeds of the sound code, and every planted defect until it is noticed.
simulate:
	swift build $(RELEASE) --product tombolo
	"$$(swift build $(RELEASE) --show-bin-path)/tombolo" simulate --seeds $(SEEDS) --situations $(SITUATIONS)
	"$$(swift build $(RELEASE) --show-bin-path)/tombolo" simulate --planted

soak:
	swift build $(RELEASE) --product tombolo
	"$$(swift build $(RELEASE) --show-bin-path)/tombolo" simulate --forever

# Clients, a daemon and a bad network between them; each round is judged by the checkers of the simulation.
SECONDS = 600
soak-processes:
	swift build $(RELEASE) --product tombolo
	swift build $(RELEASE) --product tombolod
	"$$(swift build $(RELEASE) --show-bin-path)/tombolo" chaos --seconds $(SECONDS) --seed "$${SEED:-1}"

# The suites that share state between threads, and a daemon with a watcher. The run is judged by its exit status.
sanitize:
	TSAN_OPTIONS='halt_on_error=1 exitcode=66' swift test $(THREADS) --filter 'Concurren|Synchronizer|Driver|Reliab|watcher'

bench: dependencies
	Scripts/install-dependencies gcc libc6-dev
	swift build $(RELEASE) --product TomboloBenchmarks
	swift build $(RELEASE) --product tombolod
	for name in raw_e2e raw_store raw_inrow; do \
	  gcc -O2 -w Benchmarks/Raw/$$name.c -o "$$(swift build $(RELEASE) --show-bin-path)/$$name" \
	    -lsqlite3 -lmicrohttpd -lcurl -lpthread || exit 1; done
	"$$(swift build $(RELEASE) --show-bin-path)/TomboloBenchmarks" $(BENCH)

clean:
	rm -rf .build .build-release .build-tsan
