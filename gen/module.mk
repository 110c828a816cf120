# gen/module.mk: search spaces and the emitting of kernels.    SPDX-License-Identifier: MIT
gen_SRC := $(wildcard gen/*.c)
