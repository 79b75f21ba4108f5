# smsim: `make demo` and `make test` do everything; `make help` lists the rest.
CC       ?= cc
CXX      ?= c++
BUILD    ?= build
VERSION  := $(shell sed -n 's/.*VERSION_TEXT "\(.*\)".*/\1/p' src/base/release.h)
PREFIX   ?= /usr/local
DATA_DIR ?= $(CURDIR)#         where the data are if they are not near the program
PKGS     := jansson gsl cairo expat libfyaml zlib sqlite3 libmicrohttpd
export PKGS
CFLAGS   ?= -O2 -g
WARN     := -Wall -Wextra -Wshadow -Wconversion -Wdouble-promotion
PKG_CF   := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LD   := $(shell pkg-config --libs $(PKGS) 2>/dev/null)
ALL_CF    = -std=c11 -D_POSIX_C_SOURCE=200809L $(WARN) $(CFLAGS) $(SANITIZE) -fopenmp -fPIC \
            -fvisibility=hidden -Isrc -MMD -MP $(PKG_CF)
ALL_LD    = -Wl,--as-needed $(SANITIZE) -fopenmp $(PKG_LD) -lm -ldl
# what every command needs goes into the program where its archive is here: shared libraries take time to load
ARCHIVES := $(if $(SHARED)$(PIE),,$(foreach l,gsl gslcblas jansson,$(if $(wildcard $(shell $(CC) -print-file-name=lib$(l).a)),-l:lib$(l).a)))
FIXED    ?= $(if $(PIE),-pie,-no-pie)# at a fixed address its tables need no relocation (SECURITY.md)
ifdef MPI # sweeps over the ranks of mpirun: make MPI=1
ALL_CF   += -DSMSIM_MPI $(shell pkg-config --cflags ompi-c)
ALL_LD   += $(shell pkg-config --libs ompi-c)
endif

SRC      := $(wildcard src/*/*.c src/*/*/*.c)
OBJ       = $(SRC:%.c=$(BUILD)/%.o) $(BUILD)/capture.o $(BUILD)/page.o
PAGE_CSS := $(sort $(wildcard src/page/web/*.css))
PAGE_JS  := $(sort $(wildcard src/page/web/*.js))
PAGE_LIVE := $(sort $(wildcard src/page/web/live/*.js))
CAPTURE  := src/cmd/capture/recorder.sh src/cmd/capture/sitecustomize.py
TESTS    := $(wildcard tests/unit/*.c)
TEST_OBJ  = $(TESTS:%.c=$(BUILD)/%.o)
BENCHES  := $(wildcard tests/bench/*.c)
BENCH_BIN = $(BENCHES:tests/bench/%.c=$(BUILD)/%)

# validate/measure on the CPU (tests/cuda), where there is a compiler for C++
EMULATED  = $(patsubst validate/measure/%.cu,$(BUILD)/emulated/%.o,$(wildcard validate/measure/*.cu))
CUDA_OBJ := $(patsubst tests/cuda/%.cpp,$(BUILD)/emulated/cuda/%.o,$(wildcard tests/cuda/*.cpp))
CUDA_CF   = -std=c++17 -Wall -Wextra -Wno-unknown-pragmas -fno-strict-aliasing $(CFLAGS) \
            -Itests/cuda -Ivalidate/measure -MMD -MP
CHECK_STEP := $(BUILD)/emulated/cuda/check_step.o

comma := ,
Q = $(if $(V),,@)
say = $(if $(V),,@echo "  $(1)	$(2)")

.PHONY: all demo test unit suites golden options terminal exhaustive browser readme sweeps files capture strangers questions device emulated plots applicability bench benches measure docs man layers format format-check check-sanitized deps clean help installed install uninstall deb static lib library fuzz fuzzers mutate faults threads everywhere figures check-deep coverage arm64 valgrind analysers
.SUFFIXES:
.DELETE_ON_ERROR:

all: $(BUILD)/smsim             ## the program

help:                           ## this list
	$(Q)awk -F':.*## ' '/^[a-z-]+:.*## /{ printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

deps:                           ## install what is missing (apt or dnf)
	$(Q)sh tests/deps.sh

demo: deps                      ## build, simulate BERT-large, plan GPT-3, draw the plots
	$(Q)$(MAKE) --no-print-directory all plots
	$(Q)sh tests/demo.sh $(BUILD)/smsim

SCRIPTS = golden options terminal exhaustive browser sweeps files capture strangers questions device \
          installed library everywhere $(if $(shell command -v $(CXX)),emulated)
test: deps                      ## build and run all tests
	$(Q)$(MAKE) --no-print-directory all $(BUILD)/unit
	$(Q)sh tests/together.sh "$(MAKE) --no-print-directory unit" $(MAKE) --no-print-directory $(SCRIPTS)

unit: $(BUILD)/unit $(BUILD)/smsim ## the unit tests, alone
	$(Q)SMSIM=$(BUILD)/smsim $(BUILD)/unit

suites: $(BUILD)/unit $(BUILD)/smsim ## the same, each suite by itself, on all processors
	$(Q)SMSIM=$(BUILD)/smsim sh tests/suites.sh $(BUILD)/unit

golden: $(BUILD)/smsim          ## what commands print, and what they say of bad files
	$(Q)sh tests/golden.sh $(BUILD)/smsim

options: $(BUILD)/smsim         ## every option acts, or is refused or warned of by name
	$(Q)sh tests/options.sh $(BUILD)/smsim

terminal: $(BUILD)/smsim        ## width and colour on a terminal
	$(Q)sh tests/terminal.sh $(BUILD)/smsim

exhaustive: $(BUILD)/smsim      ## plans that are listed against simulating everything
	$(Q)sh tests/exhaustive.sh $(BUILD)/smsim

readme: $(BUILD)/smsim          ## README.md and docs/ against what the program prints
	$(Q)SLOW=1 sh tests/readme.sh $(BUILD)/smsim
	$(Q)python3 tests/figures.py $(BUILD)/smsim

figures: $(BUILD)/smsim         ## errors that pages quote, as the program computes them: UPDATE=1 writes them
	$(Q)python3 tests/figures.py $(BUILD)/smsim $(if $(UPDATE),--update)

prose:                          ## the words and sentences of pages, comments and messages
	$(Q)sh tests/prose.sh

sweeps: $(BUILD)/smsim          ## sweeps that are cut off, resumed and shared among processes
	$(Q)sh tests/sweep.sh $(BUILD)/smsim

capture: $(BUILD)/smsim         ## smsim capture: what scripts would start
	$(Q)sh tests/capture.sh $(BUILD)/smsim

strangers: $(BUILD)/smsim       ## files of others, to a plan and back
	$(Q)sh tests/strangers.sh $(BUILD)/smsim

questions: $(BUILD)/smsim       ## what the doctor says of runs of others
	$(Q)sh tests/questions.sh $(BUILD)/smsim

browser: $(BUILD)/smsim         ## the pages in a headless Chromium, where there is one
	$(Q)! command -v python3 >/dev/null || python3 tests/browser/pages.py $(BUILD)/smsim

files: $(BUILD)/smsim           ## files that are none, outputs over inputs, signals, memory
	$(Q)sh tests/files.sh $(BUILD)/smsim

device: $(BUILD)/smsim          ## validate --device without a device
	$(Q)sh tests/device.sh $(BUILD)/smsim

emulated: $(BUILD)/emulated/smsim-measure $(BUILD)/emulated/check-step $(BUILD)/smsim ## the measuring program on the CPU
	$(Q)sh tests/emulated.sh $(BUILD)/emulated $(BUILD)/smsim

plots: $(BUILD)/smsim           ## the figures of plots/, from scenarios/sweeps
	$(Q)sh plots/make.sh $(BUILD)/smsim

applicability: $(BUILD)/smsim   ## validate/applicability.json, by which results say how far to trust them
	$(Q)$(BUILD)/smsim validate --applicability validate/applicability.json >/dev/null

benches: $(BENCH_BIN)           ## the programs of the bench

bench: $(BENCH_BIN) $(BUILD)/smsim ## speed figures
	$(Q)for b in $(BENCH_BIN); do $$b || exit 1; done
	$(Q)sh tests/bench/process.sh $(BUILD)/smsim
	$(Q)sh tests/bench/sweep.sh $(BUILD)/smsim

measure:                        ## the measuring program (needs nvcc; says what is missing)
	$(Q)sh validate/measure/build.sh $(BUILD)/smsim-measure

docs: $(BUILD)/smsim            ## docs/reference.md and docs/dialects.md, from the tables
	$(Q)$(BUILD)/smsim schema --page >docs/reference.md
	$(Q)$(BUILD)/smsim schema --dialects >docs/dialects.md

man: $(BUILD)/smsim             ## manual pages into build/man, from the tables of options
	$(Q)mkdir -p $(BUILD)/man
	$(Q)$(BUILD)/smsim --man >$(BUILD)/man/smsim.1
	$(Q)for c in $$($(BUILD)/smsim --help | awk '/^  [a-z]+ / && $$1 != "smsim" { print $$1 }'); do \
	    $(BUILD)/smsim $$c --man >$(BUILD)/man/smsim-$$c.1 || exit 1; done
	$(Q)! command -v groff >/dev/null || groff -man -ww -z $(BUILD)/man/*.1

layers:                         ## check that each layer includes only those before it
	$(Q)sh tests/layers.sh

format:                         ## lay the code out
	$(Q)clang-format -i $$(git ls-files '*.c' '*.h' '*.cu' '*.cuh' '*.cpp')

format-check:                   ## say what `make format` would change
	$(Q)clang-format --dry-run -Werror $$(git ls-files '*.c' '*.h' '*.cu' '*.cuh' '*.cpp')

SAMPLE   ?= 25
SANITIZED = LSAN_OPTIONS=suppressions=tests/lsan.supp:print_suppressions=0 \
    ASAN_OPTIONS=malloc_context_size=4:quarantine_size_mb=32 SAMPLE=$(SAMPLE) \
    $(MAKE) --no-print-directory BUILD=build/asan CFLAGS='-O1 -g1' \
    SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all'
check-sanitized:                ## goldens and suites under ASan and UBSan, a part of the longest loops: SAMPLE=25
	+$(Q)$(SANITIZED) golden suites

installed: $(BUILD)/smsim lib     ## make install into a folder, its commands from elsewhere, make uninstall
	$(Q)sh tests/installed.sh $(BUILD)

install: all man lib            ## into DESTDIR and PREFIX (/usr/local), data under share/smsim
	$(Q)sh package/install.sh install $(BUILD) $(DESTDIR)$(PREFIX)

uninstall:                      ## take it out again
	$(Q)sh package/install.sh uninstall $(BUILD) $(DESTDIR)$(PREFIX)

lib: $(BUILD)/libsmsim.so $(BUILD)/libsmsim.a ## libsmsim: smsim for programs in C and Python (docs/library.md)

library: lib $(BUILD)/smsim     ## its examples and its package of Python
	$(Q)sh tests/library.sh $(BUILD) $(CC)

deb: all man lib                ## a Debian package, in build/
	$(Q)sh package/deb.sh $(BUILD) $(VERSION)

STATIC_OBJ = $(BUILD)/src/main.o $(filter-out %/serve/serve.o %/draw_cairo.o %/draw_pango.o %/nsight.o,$(OBJ)) $(addprefix $(BUILD)/,serve_none.o static_draw_cairo.o static_draw_pango.o static_nsight.o)
static: $(STATIC_OBJ) man       ## a tarball with a static program that runs on any Linux, in build/
	$(Q)PKGS='$(filter-out libmicrohttpd,$(PKGS))' sh package/static.sh $(BUILD) $(VERSION) $(CC) $(STATIC_OBJ)

FUZZERS  := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
SECONDS  ?= 10
SEED     ?= 1
fuzz:                           ## each reader on mutated files, whole scenarios: SECONDS=10 each; GUIDED=1: clang's libFuzzer
	$(Q)$(MAKE) --no-print-directory $(if $(GUIDED),BUILD=build/libfuzzer CC=clang FUZZ_CF=-fsanitize=fuzzer \
	    SANITIZE='-fsanitize=fuzzer-no-link$(comma)address$(comma)undefined -fno-sanitize-recover=all',\
	    BUILD=build/asan FUZZ_CF=-DFUZZ_ALONE SANITIZE='-fsanitize=address$(comma)undefined -fno-sanitize-recover=all') \
	    CFLAGS='-O1 -g1' fuzzers
	$(Q)sh tests/fuzz.sh $(if $(GUIDED),build/libfuzzer,build/asan) $(SECONDS) $(SEED) $(if $(GUIDED),libfuzzer)

faults: $(BUILD)/smsim          ## commands whose opens, renames, mallocs and writes fail one after the other
	$(Q)bash tests/faults.sh $(BUILD)/smsim $(N)

coverage:                       ## lines and branches by folder that the tests run
	$(Q)$(MAKE) --no-print-directory BUILD=build/coverage CFLAGS='-O0 -g' SANITIZE=--coverage golden options terminal files capture sweeps device questions unit
	$(Q)sh tests/readme.sh build/coverage/smsim
	$(Q)python3 tests/coverage.py build/coverage

threads:                        ## libsmsim and commands of several threads under TSan; commands need clang's libomp
	$(Q)$(MAKE) --no-print-directory BUILD=build/tsan CFLAGS='-O1 -g1' SANITIZE=-fsanitize=thread build/tsan/threads
	$(Q)TSAN_OPTIONS=halt_on_error=1 SMSIM_DATA=$(CURDIR) build/tsan/threads
	$(Q)! command -v clang >/dev/null || $(MAKE) --no-print-directory BUILD=build/tsan-clang CC=clang CFLAGS='-O1 -g1' SANITIZE=-fsanitize=thread build/tsan-clang/smsim
	$(Q)! test -x build/tsan-clang/smsim || sed '/^#/d; s:OUT:build/tsan-clang/out:' tests/walk/threads.txt | while read -r words; do \
	    rm -rf build/tsan-clang/out; OMP_NUM_THREADS=4 SMSIM_DATA=$(CURDIR) \
	    TSAN_OPTIONS=ignore_noninstrumented_modules=1:suppressions=tests/tsan.supp \
	    build/tsan-clang/smsim $$words >build/tsan-clang/said 2>&1 </dev/null || { echo "threads: smsim $$words:"; cat build/tsan-clang/said; exit 1; }; done

$(BUILD)/threads: tests/threads.c $(BUILD)/libsmsim.a
	$(call say,LD,$@)
	$(Q)$(CC) -std=c11 -D_POSIX_C_SOURCE=200809L $(WARN) $(CFLAGS) -Isrc/lib -o $@ $^ $(ALL_LD)

everywhere: $(BUILD)/smsim      ## the same bytes with any number of threads, locale, time zone and folder
	$(Q)sh tests/everywhere.sh $(BUILD)/smsim

CPPCHECK  = --enable=warning,portability --inline-suppr --quiet --error-exitcode=1 --std=c11 --suppressions-list=tests/cppcheck.txt --library=tests/cppcheck.cfg
check-deep: all                 ## what takes hours: other compilers and processors, threads, faults, analysers
	$(Q)$(MAKE) --no-print-directory BUILD=build/gcc-O0 CFLAGS=-O0 build/gcc-O0/smsim
	$(Q)$(MAKE) --no-print-directory BUILD=build/gcc-O3 CFLAGS=-O3 build/gcc-O3/smsim
	$(Q)! command -v clang >/dev/null || $(MAKE) --no-print-directory BUILD=build/clang CC=clang build/clang/smsim
	$(Q)sh tests/everywhere.sh $(BUILD)/smsim $$(ls build/gcc-O0/smsim build/gcc-O3/smsim build/clang/smsim 2>/dev/null)
	$(Q)$(MAKE) --no-print-directory arm64 threads faults fuzz static valgrind analysers N=200 SECONDS=60
	+$(Q)$(SANITIZED) SAMPLE=3 golden suites options
	$(Q)sh tests/docker.sh build/docker

arm64: $(BUILD)/smsim           ## the program for arm64, under qemu, against this one
	$(Q)sh tests/arm64.sh $(BUILD)/smsim $(BUILD)

valgrind: $(BUILD)/smsim        ## memcheck of a sample of commands
	$(Q)! command -v valgrind >/dev/null || sed '/^#/d; /^plan/d; /unfold/d; s:JOB:scenarios:g' tests/walk/everywhere.txt | while read -r words; do \
	    OMP_NUM_THREADS=1 valgrind -q --error-exitcode=9 $(BUILD)/smsim $$words </dev/null >build/valgrind 2>&1; \
	    [ $$? != 9 ] || { echo "valgrind: smsim $$words:"; grep == build/valgrind; exit 1; }; done

analysers:                      ## gcc -fanalyzer, clang-tidy (.clang-tidy) and cppcheck over all of src
	$(Q)$(MAKE) --no-print-directory BUILD=build/analyzer CFLAGS='-O1 -fanalyzer' $(SRC:%.c=build/analyzer/%.o) 2>build/analyzer.log
	$(Q)! command -v clang-tidy >/dev/null || clang-tidy --quiet $(SRC) -- $(filter-out -MMD -MP,$(ALL_CF)) \
	    $$(pkg-config --cflags pangocairo) $(patsubst %,-DSMSIM_%='""',DATA_DIR PANGO CAIRO SQLITE MICROHTTPD) >>build/analyzer.log
	$(Q)! sed -n 's/^.*\(src[^:]*\):[0-9:]* [a-z]*: .*\[\(-W\)*\([a-zA-Z0-9.-]*\)[],].*/\1 \3/p' build/analyzer.log | sort -u | grep -vxF -f tests/analyzer.txt
	$(Q)! command -v cppcheck >/dev/null || cppcheck $(CPPCHECK) -Isrc -j2 src

N        ?= 40
FOLDERS  ?= cost step memory search engine
GCOV_OBJ  = $(patsubst %.c,build/gcov/%.o,$(wildcard $(FOLDERS:%=src/%/*.c) $(FOLDERS:%=src/%/*/*.c)))
GCOV_REST = $(GCOV_OBJ) $(filter-out $(GCOV_OBJ:build/gcov/%=$(BUILD)/%),$(OBJ))
mutate: all $(BUILD)/unit       ## which of N=40 small faults of FOLDERS the tests notice; SEED=1
	$(Q)$(MAKE) --no-print-directory BUILD=build/gcov CFLAGS='-O0 -g --coverage' $(GCOV_OBJ)
	$(Q)$(CC) --coverage -o build/gcov/unit $(TEST_OBJ) $(GCOV_REST) $(ALL_LD) -lcunit
	$(Q)$(CC) --coverage -o build/gcov/smsim $(BUILD)/src/main.o $(GCOV_REST) $(ALL_LD)
	$(Q)python3 tests/mutate.py $(N) --seed $(SEED) --folders $(subst $(eval ) ,$(comma),$(FOLDERS)) $(MUTATE)

fuzzers: $(FUZZERS:%=$(BUILD)/%)

$(BUILD)/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/fuzz_alone.h $(OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(filter-out -MMD -MP,$(ALL_CF)) $(FUZZ_CF) -o $@ $< $(OBJ) $(ALL_LD)

clean:                          ## remove what was built
	$(Q)rm -rf build

$(BUILD)/smsim: $(BUILD)/src/main.o $(OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(FIXED) -o $@ $^ -Wl,--as-needed $(ARCHIVES) $(ALL_LD)

# libsmsim: the program without its commands; nothing but smsim.h's names is seen of it
LIB_OBJ   = $(filter-out $(BUILD)/src/cmd/% $(BUILD)/src/schema/% $(BUILD)/src/page/% $(BUILD)/src/serve/%,$(filter $(BUILD)/src/%,$(OBJ)))

$(BUILD)/libsmsim.so: $(LIB_OBJ) src/lib/smsim.map
	$(call say,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,libsmsim.so.0 -Wl,--version-script=src/lib/smsim.map \
	    $(if $(SANITIZE),,-Wl,-z,defs) -o $@.0 $(LIB_OBJ) $(ALL_LD)
	$(Q)ln -sf libsmsim.so.0 $@

$(BUILD)/libsmsim.a: $(LIB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)$(LD) -r -o $(BUILD)/libsmsim.o $(LIB_OBJ)
	$(Q)objcopy --localize-hidden $(BUILD)/libsmsim.o
	$(Q)ar rcs $@ $(BUILD)/libsmsim.o

$(BUILD)/unit: $(TEST_OBJ) $(OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) -o $@ $^ $(ALL_LD) -lcunit

$(BUILD)/bench_%: $(BUILD)/tests/bench/bench_%.o $(OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) -o $@ $^ $(ALL_LD)

$(BUILD)/emulated/smsim-measure: $(EMULATED) $(filter-out $(CHECK_STEP),$(CUDA_OBJ))
	$(call say,LD,$@)
	$(Q)$(CXX) -o $@ $^ -lpthread

$(BUILD)/emulated/check-step: $(filter-out %/main.o,$(EMULATED)) $(CUDA_OBJ)
	$(call say,LD,$@)
	$(Q)$(CXX) -o $@ $^ -lpthread

$(BUILD)/emulated/cuda/%.o: tests/cuda/%.cpp
	$(Q)mkdir -p $(@D)
	$(call say,CXX,$<)
	$(Q)$(CXX) $(CUDA_CF) -c -o $@ $<

$(BUILD)/emulated/%.o: validate/measure/%.cu tests/cuda/cpp.sed
	$(Q)mkdir -p $(@D)
	$(call say,CXX,$<)
	$(Q)sed -f tests/cuda/cpp.sed $< | $(CXX) $(CUDA_CF) -MF $(@:.o=.d) -MT $@ -x c++ -c -o $@ -

# style and scripts of the page as strings: page_style, page_script, page_script_live
TO_STRING = sed 's/\\/\\\\/g; s/"/\\"/g; s/?/\\?/g; s/.*/"&\\n"/'
$(BUILD)/page.c: $(PAGE_CSS) $(PAGE_JS) $(PAGE_LIVE)
	$(Q)mkdir -p $(@D)
	$(Q){ echo 'extern const char page_style[], page_script[], page_script_live[];'; \
	    echo 'const char page_style[] ='; $(TO_STRING) $(PAGE_CSS); echo ';'; \
	    echo 'const char page_script[] ='; $(TO_STRING) $(PAGE_JS); echo ';'; \
	    echo 'const char page_script_live[] = ""'; $(TO_STRING) $(PAGE_LIVE) /dev/null; echo ';'; } >$@

# the texts of the recorders as strings: capture_recorder, capture_sitecustomize
$(BUILD)/capture.c: $(CAPTURE)
	$(Q)mkdir -p $(@D)
	$(Q)for f in $(CAPTURE); do n=$${f##*/}; \
	    echo "extern const char capture_$${n%.*}[]; const char capture_$${n%.*}[] ="; \
	    sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&\\n"/' $$f; echo ';'; done >$@

$(BUILD)/capture.o $(BUILD)/page.o: $(BUILD)/%.o: $(BUILD)/%.c
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CF) -c -o $@ $<

$(BUILD)/src/config/datadir.o: WARN += -DSMSIM_DATA_DIR='"$(DATA_DIR)"'

# libraries that are loaded when they are needed (base/late.h), by their sonames
soname = '"$(shell objdump -p "$$($(CC) -print-file-name=lib$(1).so)" | awk '$$1 == "SONAME" { print $$2 }')"'
$(BUILD)/src/draw/draw_pango.o: WARN += -DSMSIM_PANGO=$(call soname,pangocairo-1.0) \
    $(patsubst -I%,-isystem %,$(shell pkg-config --cflags pangocairo 2>/dev/null))
$(BUILD)/src/draw/draw_cairo.o: WARN += -DSMSIM_CAIRO=$(call soname,cairo)
$(BUILD)/src/kineto/nsight.o: WARN += -DSMSIM_SQLITE=$(call soname,sqlite3)
$(BUILD)/src/serve/serve.o: WARN += -DSMSIM_MICROHTTPD=$(call soname,microhttpd)

$(BUILD)/static_%.o: WARN += -DSMSIM_STATIC -DSMSIM_CAIRO='""' -DSMSIM_SQLITE='""'
$(BUILD)/static_draw_cairo.o: src/draw/draw_cairo.c
$(BUILD)/static_draw_pango.o: src/draw/draw_pango.c
$(BUILD)/static_nsight.o: src/kineto/nsight.c
$(BUILD)/static_draw_cairo.o $(BUILD)/static_draw_pango.o $(BUILD)/static_nsight.o:
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CF) -c -o $@ $<

$(BUILD)/serve_none.o: src/serve/serve.c
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CF) -DSMSIM_NO_SERVE -c -o $@ $<

$(BUILD)/%.o: %.c
	$(Q)mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CF) -c -o $@ $<

-include $(EMULATED:.o=.d) $(CUDA_OBJ:.o=.d)
-include $(OBJ:.o=.d) $(TEST_OBJ:.o=.d) $(BENCHES:%.c=$(BUILD)/%.d) $(BUILD)/src/main.d
