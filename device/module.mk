# device/module.mk: the thin layer over HIP.    SPDX-License-Identifier: MIT
device_SRC := $(wildcard device/*.c)
$(O)/device/%.o: FLAGS += $(HIP_FLAGS)
