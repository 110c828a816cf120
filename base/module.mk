# base/module.mk: status, strings, files, hashes: everything else stands on it.    SPDX-License-Identifier: MIT
base_SRC := $(wildcard base/*.c)
