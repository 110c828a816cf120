# cli/module.mk: the moesaic command, and the starter of tests and benches.    SPDX-License-Identifier: MIT
cli_MAIN  := $(wildcard cli/main.c)
cli_START := cli/loader_start.c
cli_SRC   := $(filter-out $(cli_MAIN) $(cli_START),$(wildcard cli/*.c))
$(O)/cli/%.o: FLAGS += $(HIP_FLAGS)
$(O)/cli/loader.o $(O)/cli/loader.tidy.o: FLAGS += -DMOESAIC_HIP_LIB='"$(HIP_LIB)"' -DMOESAIC_HIP_IS_PRIVATE=$(if $(filter private,$(HIP_KIND)),1,0)

$(O)/cli/cmd_db.o $(O)/cli/cmd_db.tidy.o: FLAGS += -DMOESAIC_SYSCONF_FOLDER='"$(SYSCONFDIR)/moesaic"' \
    -DMOESAIC_LIB_FOLDER='"$(LIBDIR)/moesaic"'

# Programs that link this find HIP by themselves.  Sanitizers stay with the C library that they were built for.
LOADER_START := $(if $(filter-out release debug cov,$(MODE)),,$(call objects,$(cli_START)))

$(OUT)/moesaic: $(call objects,$(cli_MAIN)) $(ARCHIVES)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(LINK) -o $@ $(call objects,$(cli_MAIN)) -Wl,--start-group $(ARCHIVES) -Wl,--end-group $(LIBS_ALL)
