# examples/module.mk: programs that use the public header, and HIP for their memory.    SPDX-License-Identifier: MIT
EXAMPLE_SRC := $(wildcard examples/*.c)
EXAMPLES    := $(patsubst %.c,$(OUT)/%,$(EXAMPLE_SRC))
examples: $(EXAMPLES)
.PHONY: examples

$(O)/examples/%.o: FLAGS += $(HIP_FLAGS)
$(EXAMPLES): $(OUT)/examples/%: $(O)/examples/%.o $(OUT)/libmoesaic.so
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(LINK) -o $@ $< $(OUT)/libmoesaic.so -Wl,-rpath,'$$ORIGIN/..' $(LIBS_HIP) -lm
