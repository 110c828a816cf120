# bench/module.mk: one program per bench/*.c; each prints one line of JSON last.    SPDX-License-Identifier: MIT
BENCH_SRC := $(wildcard bench/*.c)
BENCHES   := $(patsubst %.c,$(OUT)/%,$(BENCH_SRC))
bench: all $(BENCHES)
.PHONY: bench

$(O)/bench/%.o: FLAGS += $(HIP_FLAGS)
$(BENCHES): $(OUT)/bench/%: $(O)/bench/%.o $(ARCHIVES) $(LOADER_START)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(LINK) -o $@ $(filter %.o,$^) -Wl,--start-group $(ARCHIVES) -Wl,--end-group $(LIBS_ALL)
