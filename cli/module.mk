# cli/module.mk: the moesaic command.    SPDX-License-Identifier: MIT
cli_MAIN := $(wildcard cli/main.c)
cli_SRC  := $(filter-out $(cli_MAIN),$(wildcard cli/*.c))
$(O)/cli/%.o: FLAGS += $(HIP_FLAGS) $(LOADER_FLAGS)

$(OUT)/moesaic: $(call objects,$(cli_MAIN)) $(ARCHIVES)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(LINK) -o $@ $(call objects,$(cli_MAIN)) -Wl,--start-group $(ARCHIVES) -Wl,--end-group $(LIBS_ALL)
