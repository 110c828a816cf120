# tuner/module.mk: search, timing, verification; the references use OpenBLAS.    SPDX-License-Identifier: MIT
tuner_SRC := $(wildcard tuner/*.c)
