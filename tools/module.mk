# tools/module.mk: lint, every check also alone.    SPDX-License-Identifier: MIT
#
# A source that was tidied and a header that compiled alone leave a stamp in $(O), named like an object: so each gets
# its room's flags, and only what changed is checked again.
LINT := format tidy layers headers abi
lint: $(LINT)
.PHONY: lint $(LINT)

format layers: $(BUILD)/have-lint
	$(Q)tools/lint $@
abi: $(OUT)/libmoesaic.so $(OUT)/emu/libhsa-runtime64.so.1
	$(Q)tools/lint abi $(OUT) $(HIP_LIBRARY)

LINT_SRC     := $(wildcard $(patsubst %,%/*.c,$(ROOMS)) emu/*/*.c tests/*/*.c examples/*.c bench/*.c)
LINT_HEADERS := $(wildcard $(patsubst %,%/*.h,$(ROOMS)) emu/*/*.h include/moesaic/*.h tests/*/*.h)

# clang lacks some of gcc's vector operations, which the instructions are made of.
tidy: $(patsubst %.c,$(O)/%.tidy.o,$(filter-out $(emu_EXEC),$(LINT_SRC)))
headers: $(patsubst %.h,$(O)/%.alone.o,$(LINT_HEADERS))

# The instructions are looked at as the widest SIMD level has them.
$(O)/emu/isa/%.tidy.o $(O)/emu/isa/%.alone.o: FLAGS += $(EMU_EXEC_FLAGS) $(EMU_SIMD_avx512) -DEMU_SIMD=avx512

# Warnings are gcc's, and errors here; assertions are on, since they tell the analyser what holds.
lint_flags = $(MOE_CPP) $(MOE_C) $(FLAGS) -MMD -MP -MF $(@:.o=.d) -MT $@
tidy_flags = $(filter-out $(WARNINGS),$(lint_flags)) -UNDEBUG $(if $(filter base/status.c,$<),,-include tools/tidy.h)
$(O)/%.tidy.o: %.c .clang-tidy tools/tidy.h $(BUILD)/config.changed | $(BUILD)/have-lint
	$(call say,TIDY,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(lint_flags) -UNDEBUG -Werror -fsyntax-only $<
	$(Q)clang-tidy --quiet $< -- $(tidy_flags) 2> $(@:.o=.log) || { cat $(@:.o=.log); exit 1; }
	$(Q)touch $@

$(O)/%.alone.o: %.h $(BUILD)/config.changed
	$(call say,ALONE,$<)
	$(Q)mkdir -p $(@D)
	$(Q)printf '#include "%s"\nextern int not_empty;\n' $< | $(CC) $(lint_flags) -Werror -fsyntax-only -x c -
	$(Q)touch $@
