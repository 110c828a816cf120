# tests/module.mk: one program per tests/<room>/test_*.c, run by tools/run-tests.    SPDX-License-Identifier: MIT
#
# Other C files of a room's folder are helpers that are linked into each of its tests.  tests/emu sees the emulator
# and base, tests/api only the public library, tests/hip nothing but HIP, everybody else all the rooms.
# tests/programs holds no tests, but other people's programs.
TEST_SRC     := $(wildcard tests/*/test_*.c)
PROGRAM_SRC  := $(wildcard tests/programs/*.c)
TEST_SUPPORT := $(filter-out $(TEST_SRC) $(PROGRAM_SRC),$(wildcard tests/*/*.c))
TESTS        := $(patsubst %.c,$(OUT)/%,$(TEST_SRC))
TEST_SCRIPTS := $(wildcard tests/*/test_*.sh)
PROGRAMS     := $(patsubst %.c,$(OUT)/%,$(PROGRAM_SRC))

$(call objects,$(TEST_SRC) $(TEST_SUPPORT)): | $(BUILD)/have-test
$(O)/tests/%.o: FLAGS += $(HIP_FLAGS)
$(O)/tests/emu/%.o $(O)/tests/hsa/%.o: FLAGS += $(EMU_FLAGS)

test_helpers = $(call objects,$(filter tests/$(1)/%,$(TEST_SUPPORT)))
test_rooms   = $(or $(test_rooms_$(1)),$(ARCHIVES))
test_rooms_emu = $(O)/libemu.a $(O)/libbase.a
test_rooms_hsa = $(test_rooms_emu)
test_rooms_api = $(OUT)/libmoesaic.so
test_link_api  = -Wl,-rpath,'$$$$ORIGIN/../..'
test_rooms_hip = $(O)/libbase.a

define test_rule
$(OUT)/tests/$(1)/%: $(O)/tests/$(1)/%.o $(call test_helpers,$(1)) $(call test_rooms,$(1)) $(if $(findstring libcli,$(call test_rooms,$(1))),$(LOADER_START))
	$$(call say,LD,$$@)
	$$(Q)mkdir -p $$(@D) && $$(LINK) -o $$@ $$(filter %.o,$$^) -Wl,--start-group $$(filter %.a %.so,$$^) -Wl,--end-group \
	    $(test_link_$(1)) -lcmocka -lelf $$(LIBS_ALL)
endef
$(foreach room,$(sort $(patsubst tests/%/,%,$(dir $(TEST_SRC)))),$(eval $(call test_rule,$(room))))

# HIP programs that know nothing of us.
$(PROGRAMS): $(OUT)/%: $(O)/%.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(LINK) -o $@ $< $(LIBS_HIP)

run_tests   = $(Q)OUT=$(OUT) MODE=$(MODE) tools/run-tests
tests_of    = $(filter $(foreach room,$(1),$(OUT)/tests/$(room)/%),$(TESTS))
tests_not_of = $(filter-out $(foreach room,$(1),$(OUT)/tests/$(room)/%),$(TESTS))

test: all $(TESTS) $(PROGRAMS)
	$(run_tests) $(TESTS) $(TEST_SCRIPTS)
test-quick: all $(call tests_not_of,hip runtime templates tuner)
	$(run_tests) --quick $(call tests_not_of,hip runtime templates tuner)
test-isa: $(call tests_of,emu)
	$(run_tests) $^
test-kernels: all $(call tests_of,hip templates runtime)
	$(run_tests) $(call tests_of,hip templates runtime)
test-faults: all $(call tests_of,tuner) $(OUT)/tests/hip/test_faults
	$(run_tests) $(call tests_of,tuner) $(OUT)/tests/hip/test_faults
golden: $(call tests_of,gen)
	$(Q)MOESAIC_GOLDEN=rewrite OUT=$(OUT) tools/run-tests $^

# The loader of a private HIP knows nothing of a sanitizer's libraries: tests that load HIP stay outside.
test-sanitize:
	$(Q)$(MAKE) MODE=asan test-built
test-built: $(filter-out %/tuner/test_planted %/tuner/test_upload,$(call tests_not_of,hip runtime templates))
	$(run_tests) $^
.PHONY: test test-quick test-isa test-kernels test-faults test-built test-sanitize golden
