# emu/module.mk: the software MI300X, libhsa-runtime64.so.1.    SPDX-License-Identifier: MIT
#
# emu/isa/exec_*.c hold the instructions.  Each is compiled once per SIMD level of the host; the sources
# prefix their symbols with EMU_SIMD, and the level is chosen when the library is loaded.
emu_EXEC := $(wildcard emu/isa/exec_*.c)
emu_SRC  := $(filter-out $(emu_EXEC),$(wildcard emu/*.c emu/*/*.c))
emu_LEVELS := base avx2 avx512
emu_OBJ  := $(foreach level,$(emu_LEVELS),$(patsubst %.c,$(O)/%.$(level).o,$(emu_EXEC)))

EMU_SIMD_base   := -march=x86-64-v2
EMU_SIMD_avx2   := -march=x86-64-v3 -mno-vzeroupper
EMU_SIMD_avx512 := -march=x86-64-v4 -mavx512bf16 -mavx512vbmi2 -mprefer-vector-width=512 -mno-vzeroupper

# Handlers continue by tail calls, so they are optimised in every mode, less where gcc adds checks, which takes it
# long enough; GNU vectors need gnu17.
EMU_EXEC_FLAGS := -std=gnu17 $(if $(LINK_MODE),-O1,-O3) -ffp-contract=off -foptimize-sibling-calls -fno-strict-aliasing -fno-semantic-interposition -Wno-pedantic -Wno-psabi
EMU_FLAGS := -std=gnu17 -DAMD_INTERNAL_BUILD -DHSA_EXPORT -DHSA_EXPORT_IMAGES -isystem $(HIP_INCLUDE)
$(O)/emu/%.o: FLAGS += $(EMU_FLAGS)

define emu_level
$(O)/emu/isa/%.$(1).o: emu/isa/%.c $(BUILD)/config.changed
	$$(call say,CC,$$< ($(1)))
	$$(Q)mkdir -p $$(@D) && $$(compile) $$(EMU_EXEC_FLAGS) $$(EMU_SIMD_$(1)) -DEMU_SIMD=$(1) -c -o $$@ $$<
endef
$(foreach level,$(emu_LEVELS),$(eval $(call emu_level,$(level))))

$(OUT)/emu/libhsa-runtime64.so.1: $(call objects,$(emu_SRC)) $(emu_OBJ) $(O)/libbase.a emu/exports.map
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(LINK) -shared -Wl,-soname,libhsa-runtime64.so.1 -Wl,--version-script=emu/exports.map \
	    -o $@ $(call objects,$(emu_SRC)) $(emu_OBJ) $(O)/libbase.a -lelf $(LIBS_BASE)
