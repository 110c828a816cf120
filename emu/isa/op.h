/* emu/isa/op.h: one decoded instruction, the table row that it came from, and the contract of a handler.
 *
 * A kernel is decoded once from comgr's text into an array of 64-byte operations.  Vector operands are byte
 * offsets into the wave's register file, scalar operands (SGPR, VCC, M0, EXEC, constants, literals) are all
 * indices into one array `s[]` of the wave: a source is then either "vector" or "scalar", nothing else.
 * A handler executes one operation for 64 lanes and continues with the next by a tail call; it returns
 * to the run loop only to end, to wait or to yield.
 *
 * Rows are grouped in tables, one per exec_<format>.c; every such file is compiled once per SIMD level (EMU_SIMD),
 * and the level is chosen at run time from the host's CPU.               SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_OP_H
#define MOESAIC_EMU_ISA_OP_H

#include "emu/sim.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct emu_op emu_op;
typedef struct emu_wave emu_wave;
typedef const emu_op *(*emu_exec)(emu_wave *wave, const emu_op *op);

/* Bytes from one VGPR to the next: 64 lanes x 4 bytes, padded so that registers 16 apart do not share the low 12
 * address bits (4 KiB aliasing of the host's L1 cost 1.4x on matrix kernels). */
enum { EMU_VGPR_STRIDE = 320 };

/* Indices into emu_wave.s: hardware numbers of the scalar operands, constants behind them. */
enum {
    EMU_S_VCC = 106,
    EMU_S_M0 = 124,
    EMU_S_EXEC = 126,
    EMU_S_ZERO = 128,        /* 64 bits of zeros */
    EMU_S_SHARED_BASE = 130, /* apertures, 64 bits each, filled when the wave starts */
    EMU_S_PRIVATE_BASE = 132,
    EMU_S_SCC = 134, /* copy of SCC for instructions that read src_scc */
    EMU_S_CONSTANT = 136,
    EMU_S_MAX = 1024,
};

struct emu_op {
    emu_exec exec;
    uint32_t d, a, b, c;    /* destination and sources */
    uint32_t a2, b2, c2;    /* sources of the high half (packed), or scalar destination */
    int32_t imm, imm2;      /* offsets, waits, counts */
    uint16_t row;           /* index into the program's row table */
    uint8_t neg, abs;       /* bit per source; packed: neg_lo, neg_hi */
    uint8_t scalar_sources; /* bit per source that indexes s[] */
    uint8_t n_dwords;       /* registers per lane that move */
    uint8_t flags;          /* EMU_OP_* */
    uint8_t modifier;       /* clamp (bit 0), omod (bits 2:1); else free for the encoder */
    const emu_op *target;   /* branch target */
};
_Static_assert(sizeof(emu_op) == 64, "an operation is one cache line");

enum {
    EMU_OP_SADDR = 1,   /* scalar base + 32-bit vector offset */
    EMU_OP_OFFEN = 2,   /* buffer: VGPR offset */
    EMU_OP_IDXEN = 4,   /* buffer: VGPR index */
    EMU_OP_RETURN = 8,  /* atomic returns the old value (sc0) */
    EMU_OP_TO_LDS = 16, /* load goes to LDS */
    EMU_OP_NO_VADDR = 32,
};

/* One operand as comgr printed it. */
typedef enum emu_operand_kind {
    EMU_NONE,
    EMU_VGPR, /* index counts from v0; AccVGPRs are already moved up by accum_offset */
    EMU_SCALAR,
    EMU_INTEGER,
    EMU_FLOAT,
    EMU_OFF,
} emu_operand_kind;

typedef struct emu_operand {
    emu_operand_kind kind;
    uint32_t index, n; /* first register and number of registers */
    bool neg, abs, sext;
    bool literal; /* printed in hexadecimal: not an inline constant */
    int64_t integer;
    double real;
} emu_operand;

/* One instruction as comgr printed it, split into its parts. */
typedef struct emu_text {
    char mnemonic[64];
    char encoding[8]; /* "e32", "e64", "dpp", "sdwa" or "" */
    emu_operand operand[8];
    int n_operands;
    uint64_t address, branch_target; /* branch_target: 0 when there is none */
    uint32_t size_bytes;
    uint32_t words[5];   /* the encoding itself */
    char modifiers[192]; /* "offset:16 sc0 nt", as printed */
    const char *line;    /* whole text, for messages */
} emu_text;

typedef struct emu_row emu_row;
typedef struct emu_decoder emu_decoder;

/* Fill op from text; false with a message in the decoder when the form is not supported. */
typedef bool (*emu_encode)(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                           emu_op *op);

/* Which unit an instruction occupies (timing and counters). */
typedef enum emu_unit {
    EMU_UNIT_SALU,
    EMU_UNIT_SMEM,
    EMU_UNIT_VALU,
    EMU_UNIT_MFMA,
    EMU_UNIT_LDS,
    EMU_UNIT_VMEM_LOAD,
    EMU_UNIT_VMEM_STORE,
    EMU_UNIT_VMEM_ATOMIC,
    EMU_UNIT_BRANCH,
    EMU_UNIT_WAIT,
    EMU_UNIT_BARRIER,
    EMU_UNIT_NONE, /* costs an issue slot at most */
    EMU_N_UNITS,
} emu_unit;

struct emu_row {
    const char *mnemonic; /* LLVM's, without encoding suffix */
    emu_encode encode;
    const emu_exec *exec; /* variants; the encoder picks one (by scalar_sources, modifiers) */
    uint8_t unit;         /* emu_unit */
    uint8_t cycles;       /* issue cycles of its unit for a 64-lane wave */
    uint8_t n_dwords;     /* data registers, where that makes sense */
    uint8_t element_bytes;
    uint16_t effect;      /* EMU_EFFECT_* */
    uint8_t variants;     /* EMU_VARIANT_*: what exec[] has variants for (emu_encode_alu) */
    const char *operands; /* printed operands (emu_encode_alu, encode_alu.c) */
};

/* Without a variant the decoder puts operations in front that broadcast a scalar or apply a sign. */
enum {
    EMU_VARIANT_SCALAR = 1,   /* exec[bit per source that is scalar] */
    EMU_VARIANT_MODIFIER = 2, /* the second half of exec[] applies neg, abs, clamp */
};

enum {
    EMU_EFFECT_BRANCH = 1,   /* conditional or not: text->branch_target */
    EMU_EFFECT_END = 2,      /* nothing follows: s_endpgm, s_branch, s_setpc */
    EMU_EFFECT_NO_VALUE = 4, /* no effect on values: not executed, but counted */
    EMU_EFFECT_PC = 8,       /* wants the address of the next instruction in imm/imm2 */
};

typedef struct emu_table {
    const emu_row *rows;
    size_t n;
} emu_table;

/* Helpers for encoders (decode.c).
 *
 * One instruction may become several operations: what emu_decoder_before and _after return runs before and after
 * the one that the encoder fills; `mnemonic` names a row of the tables, internal ones start with a dot.
 * A temporary is a VGPR behind the kernel's own (byte offset); they are free again at the next instruction. */
emu_op *emu_decoder_before(emu_decoder *decoder, const char *mnemonic);
emu_op *emu_decoder_after(emu_decoder *decoder, const char *mnemonic);
uint32_t emu_decoder_temporary(emu_decoder *decoder, int n_registers);
moesaic_sim_mfma emu_decoder_mfma(const emu_decoder *decoder); /* numerics of this program */

/* emu_encode_vgpr gives a byte offset, emu_encode_constant an index into s[], emu_encode_source either: then it
 * sets the bit in op->scalar_sources. */
uint32_t emu_encode_vgpr(const emu_operand *operand);
uint32_t emu_encode_source(emu_decoder *, emu_op *, int bit, const emu_operand *, int n_dwords);
uint32_t emu_encode_constant(emu_decoder *, uint64_t value, int n_dwords);
bool emu_modifier_flag(const emu_text *, const char *name);                /* "sc0", "offen", ... */
bool emu_modifier_int(const emu_text *, const char *name, int64_t *value); /* "offset:16" */
bool emu_decode_fail(emu_decoder *, const emu_text *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Symbols of a file that is compiled per SIMD level. */
#define EMU_CAT2(a, b)  a##_##b
#define EMU_CAT(a, b)   EMU_CAT2(a, b)
#define EMU_LEVEL(name) EMU_CAT(name, EMU_SIMD) /* emu_rows_ds_avx512, emu_rows_ds_base */

#endif
