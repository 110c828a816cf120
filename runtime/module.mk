# runtime/module.mk: libmoesaic, shared and static.    SPDX-License-Identifier: MIT
# Layers of databases lie in SYSCONFDIR/moesaic and LIBDIR/moesaic.
# It exports moesaic_* only, and takes the HIP that the process has: no NEEDED entry for it.
SYSCONFDIR ?= $(if $(filter /usr,$(PREFIX)),/etc,$(PREFIX)/etc)
LIBDIR     ?= $(PREFIX)/lib

runtime_SRC := $(wildcard runtime/*.c)
$(O)/runtime/%.o: FLAGS += $(HIP_FLAGS) -DMOESAIC_SYSCONF_FOLDER='"$(SYSCONFDIR)/moesaic"' \
    -DMOESAIC_LIB_FOLDER='"$(LIBDIR)/moesaic"'

LIBMOESAIC_ROOMS   := runtime gen device db base
LIBMOESAIC_OBJECTS := $(foreach room,$(LIBMOESAIC_ROOMS),$(call objects,$($(room)_SRC)))

$(OUT)/libmoesaic.so: $(LIBMOESAIC_OBJECTS) runtime/exports.map
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(LINK) -shared -Wl,-soname,libmoesaic.so.0 -Wl,--version-script=runtime/exports.map \
	    -o $@ $(LIBMOESAIC_OBJECTS) $(LIBS_DB) $(LIBS_BASE) && ln -sf libmoesaic.so $@.0

$(OUT)/libmoesaic.a: $(LIBMOESAIC_OBJECTS)
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^
