# tuner/module.mk: search, verification, timing, isolation.    SPDX-License-Identifier: MIT
tuner_SRC := $(wildcard tuner/*.c)
$(O)/tuner/%.o: FLAGS += $(HIP_FLAGS)
