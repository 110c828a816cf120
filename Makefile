# Makefile: builds, tunes, tests and checks everything; `make help` lists the targets.
#
# One make, no recursion for building: each room's module.mk names its sources by wildcard, so a new
# file needs no edit here.  Variables for the command line:
#   BUILD=DIR  products lie in DIR, objects of a mode in DIR/<mode>          (build)
#   MODE=...   release, debug, asan, ubsan, tsan or cov; all but release put their products in DIR/<mode>
#   V=1        show the commands          PREFIX=, DESTDIR=   for `make install`
# SPDX-License-Identifier: MIT

MAKEFLAGS += --no-builtin-rules --no-print-directory
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif
.SUFFIXES:
.SECONDARY:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

BUILD  ?= build
MODE   ?= release
PREFIX ?= /usr/local
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin AR),default)
AR := gcc-ar
endif

O   := $(BUILD)/$(MODE)
OUT := $(if $(filter release,$(MODE)),$(BUILD),$(O))
Q   := $(if $(V),,@)
say  = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)')
quoted = $(foreach word,$(1),'$(word)')

# --- what the machine has: written by tools/setup, which also installs what is missing ------------------------
ROOMS := base db gen device runtime tuner emu cli
NEEDS_NO_SETUP := clean help format layers
ifneq ($(filter-out $(NEEDS_NO_SETUP),$(or $(MAKECMDGOALS),all)),)
include $(BUILD)/config.mk
endif
SETUP := tools/setup setup.lock tools/packages.txt $(wildcard tools/setup.d/*)
$(BUILD)/config.mk: $(SETUP)
	$(Q)tools/setup --build $(BUILD)
# What only tests or only lint need, in addition.
$(BUILD)/have-%: $(SETUP)
	$(Q)tools/setup --build $(BUILD) --need $*
ifneq ($(and $(HIP_LIBRARY),$(if $(wildcard $(HIP_LIBRARY)),,gone)),)
$(BUILD)/config.mk: hip-is-gone
endif
hip-is-gone:
# Touched only when the configuration is another one, so that running the set-up again compiles nothing.
$(BUILD)/config.changed: $(BUILD)/config.mk ;

# --- flags ------------------------------------------------------------------------------------------------------
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wconversion
OPTIMISE_release := -O2 -DNDEBUG
OPTIMISE_debug   := -Og
OPTIMISE_asan    := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
OPTIMISE_ubsan   := -O1 -fsanitize=undefined -fno-sanitize-recover=undefined
OPTIMISE_tsan    := -O1 -fsanitize=thread
OPTIMISE_cov     := -O0 --coverage
ifeq ($(OPTIMISE_$(MODE)),)
$(error MODE=$(MODE) is none of release, debug, asan, ubsan, tsan, cov)
endif
LINK_MODE := $(filter -fsanitize=% --coverage,$(OPTIMISE_$(MODE)))

HIP_FLAGS := -isystem $(HIP_INCLUDE) -D__HIP_PLATFORM_AMD__
CPPFLAGS  ?=
CFLAGS    ?=
LDFLAGS   ?=
MOE_CPP   := -I. -Iinclude -D_GNU_SOURCE $(SQLITE_FLAGS)
MOE_C     := -std=c17 -g1 -fPIC -fvisibility=hidden -fopenmp $(OPTIMISE_$(MODE)) $(WARNINGS)
compile    = $(CC) -MMD -MP $(MOE_CPP) $(CPPFLAGS) $(MOE_C) $(FLAGS) $(CFLAGS)
LINK      := $(CC) $(LINK_MODE) -fopenmp $(LDFLAGS) -Wl,--as-needed

# HIP has its newer libraries beside it: symbols that only they need are found when the program runs.
LIBS_HIP   := -L$(HIP_LIB) -l:libamdhip64.so.$(HIP_MAJOR) -l:libhiprtc.so.$(HIP_MAJOR) -Wl,--allow-shlib-undefined
LIBS_BASE  := -lcjson -lcrypto -lzstd -lpthread -ldl -lm
LIBS_DB    := $(or $(SQLITE_LIBS),-lsqlite3)
LIBS_ALL   := $(LIBS_DB) $(LIBS_BASE) -lopenblas $(LIBS_HIP)

# --- the rooms --------------------------------------------------------------------------------------------------
objects  = $(patsubst %.c,$(O)/%.o,$(1))
archive  = $(O)/lib$(1).a
ARCHIVES := $(foreach room,cli tuner gen runtime device db base,$(call archive,$(room)))

include $(wildcard $(addsuffix /module.mk,$(ROOMS) tests examples bench tools))

define room_rule
$(call archive,$(1)): $(call objects,$($(1)_SRC)) $($(1)_OBJ)
endef
$(foreach room,$(ROOMS),$(eval $(call room_rule,$(room))))

$(O)/lib%.a:
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^

$(O)/%.o: %.c $(BUILD)/config.changed
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(compile) -c -o $@ $<

# --- products ---------------------------------------------------------------------------------------------------
PRODUCTS := $(if $(cli_MAIN),$(OUT)/moesaic) $(OUT)/libmoesaic.so $(OUT)/libmoesaic.a $(OUT)/emu/libhsa-runtime64.so.1
all: $(PRODUCTS) examples

tune: all
	$(Q)$(OUT)/moesaic tune workloads/zaya1.json --db $(OUT)/tuned.db
tune-all: all
	$(Q)for workload in workloads/*.json; do $(OUT)/moesaic tune $$workload --db $(OUT)/tuned.db || exit; done

install: all
	$(Q)tools/install $(OUT) '$(DESTDIR)' '$(PREFIX)'
clean:
	rm -rf $(BUILD)
help:
	$(Q)tools/make-help

.PHONY: all tune tune-all install clean help hip-is-gone

DEPENDENCIES := $(shell find $(O) -name '*.d' 2>/dev/null)
-include $(DEPENDENCIES)
