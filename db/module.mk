# db/module.mk: the SQLite database of tuned kernels.    SPDX-License-Identifier: MIT
# A source may pull schema/*.sql in with .incbin; it then depends on them.
db_SRC := $(wildcard db/*.c)
$(call objects,$(db_SRC)): $(wildcard db/schema/*.sql)
