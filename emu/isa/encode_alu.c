/* emu/isa/encode_alu.c: operands of vector and scalar arithmetic, driven by a row's signature.
 *
 * A signature lists the printed operands, results before '=':
 *
 *   results  D, Q   one, two VGPRs            s, p, S  SGPR, SGPR pair, lane mask (SGPR pair or VCC)
 *            H, B   16, 8 bits of a VGPR      M, N     f16 result of v_fma_mixlo, v_fma_mixhi
 *            P      pair of packed f32
 *   sources  i, f   32 bits: integer, f32     h, w     16 bits: f16, integer
 *            d, q, l  64 bits: f64, unsigned, signed   m  lane mask     c  scalar, never a VGPR
 *            k      packed 16 bits            v        packed f32       y  half of a pair (v_pk_mov)
 *            x      f32 or f16 (v_fma_mix)    +        the result register again (v_fmac)
 *
 * What a row has no variant for (scalar sources, signs) and what is rare (DPP, SDWA, op_sel, clamp) becomes operations
 * around the instruction, so that handlers stay simple and fast.
 * Source: LLVM AMDGPUModifierSyntax; CDNA3 ISA guide, "VOP3P", "SDWA".  SPDX-License-Identifier: MIT
 */
#include "base/status.h"
#include "emu/isa/decode.h"
#include "emu/isa/encode_lower.h"
#include "emu/isa/text.h"

#include <math.h>
#include <string.h>

enum { MAX_SOURCES = 3 };

/* The instruction being encoded. */
typedef struct alu {
    emu_decoder *decoder;
    const emu_text *text;
    const emu_row *row;
    emu_op *op;
    int n_sources;
    bool is_sdwa, is_dpp;
    uint32_t op_sel, op_sel_hi, neg_lo, neg_hi;
} alu;

static bool is_wide(char type)
{
    return strchr("dqlmp", type) != NULL;
}

static uint64_t float_bits(double value, char type)
{
    float f = (float)value;
    uint32_t bits;
    uint64_t bits64;
    memcpy(&bits, &f, sizeof bits);
    memcpy(&bits64, &value, sizeof bits64);
    if (is_wide(type))
        return bits64;
    if (!strchr("hwk", type))
        return bits;
    int exponent;
    double mantissa =
        frexp(fabs(value), &exponent); /* inline constants are normal numbers in f16 */
    uint32_t half = (uint32_t)(exponent + 14) << 10;
    half += (uint32_t)lrint(ldexp(mantissa, 11)) - 1024;
    return (value < 0 ? 0x8000u : 0) | half;
}

static uint64_t integer_bits(const emu_operand *o, char type)
{
    uint64_t value = (uint64_t)o->integer;
    if (!o->literal)
        return value;
    if (type == 'd' && value <= UINT32_MAX)
        return value << 32; /* a literal is the high half of a double */
    if (type == 'l')
        return (uint64_t)(int64_t)(int32_t)value;
    return value;
}

uint32_t emu_encode_scalar(emu_decoder *decoder, const emu_operand *o, char type)
{
    int n_dwords = is_wide(type) ? 2 : 1;
    if (o->kind == EMU_FLOAT)
        return emu_encode_constant(decoder, float_bits(o->real, type), n_dwords);
    if (o->kind == EMU_INTEGER)
        return emu_encode_constant(decoder, integer_bits(o, type), n_dwords);
    if (o->kind != EMU_SCALAR) {
        emu_decode_fail(decoder, NULL, "a scalar operand was expected");
        return EMU_S_ZERO;
    }
    if (o->index == EMU_S_SCC)
        emu_decoder_before(decoder, ".read_scc");
    return o->index;
}

/* A copy of a scalar in every lane of a temporary. */
static uint32_t broadcast(emu_decoder *decoder, uint32_t scalar, bool wide)
{
    uint32_t to = emu_decoder_temporary(decoder, wide ? 2 : 1);
    for (uint32_t i = 0; i < (wide ? 2u : 1u); i++) {
        emu_op *op = emu_decoder_before(decoder, ".broadcast");
        op->d = to + i * EMU_VGPR_STRIDE;
        op->a = scalar + i;
    }
    return to;
}

/* A temporary with sign bits changed: (x & keep) ^ flip, in the last register of a wide source. */
static uint32_t modify(emu_decoder *decoder, uint32_t source, bool wide, uint32_t keep,
                       uint32_t flip)
{
    emu_op *op = emu_decoder_before(decoder, ".modify");
    op->d = emu_decoder_temporary(decoder, wide ? 2 : 1);
    op->a = source;
    op->n_dwords = wide ? 2 : 1;
    op->imm = (int32_t)flip;
    op->imm2 = (int32_t)keep;
    return op->d;
}

static uint32_t change_sign(emu_decoder *decoder, uint32_t source, char type, bool neg, bool abs)
{
    uint32_t sign = strchr("hw", type) ? 0x8000u : 0x80000000u;
    return modify(decoder, source, is_wide(type), abs ? ~sign : ~0u, neg ? sign : 0);
}

static uint32_t packed_source(alu *a, int i, uint32_t source)
{
    bool lo = a->op_sel >> i & 1, hi = a->op_sel_hi >> i & 1;
    if (lo || !hi)
        source = emu_lower_halves(a->decoder, source, lo, hi);
    uint32_t flip = (a->neg_lo >> i & 1 ? 0x8000u : 0) | (a->neg_hi >> i & 1 ? 0x80000000u : 0);
    return flip ? modify(a->decoder, source, false, ~0u, flip) : source;
}

/* Part of a register: by SDWA's selector, or the half that op_sel names. */
static uint32_t select_part(alu *a, int i, char type, const emu_operand *o, uint32_t source)
{
    emu_part part = emu_part_whole;
    if (a->is_sdwa)
        part = emu_sdwa_part(a->text, i == 0 ? "src0_sel" : "src1_sel");
    else if (strchr("hw", type) && a->op_sel >> i & 1)
        part = emu_part_high;
    else if (type == 'x' && a->op_sel_hi >> i & 1)
        part = a->op_sel >> i & 1 ? emu_part_high : emu_part_low;
    if (part.width < 32 || o->sext)
        source = emu_lower_extract(a->decoder, source, part, o->sext);
    if (type == 'x' && a->op_sel_hi >> i & 1)
        source = emu_lower_call(a->decoder, "v_cvt_f32_f16", source);
    return source;
}

static bool needs_vector(const alu *a, int i, char type)
{
    return !(a->row->variants & EMU_VARIANT_SCALAR) || a->is_sdwa || type == 'k' ||
           (strchr("hw", type) && a->op_sel >> i & 1) || (type == 'x' && a->op_sel_hi >> i & 1);
}

/* Encode source i; the result is its register offset or scalar index. */
static uint32_t encode_source(alu *a, int i, char type, const emu_operand *o)
{
    emu_decoder *decoder = a->decoder;
    const uint8_t bit = (uint8_t)(1u << i);
    bool is_vector = o->kind == EMU_VGPR;
    if (type == 'c' || type == 'm')
        return emu_encode_scalar(decoder, o, type == 'm' ? 'q' : 'i');
    char constant = type == 'x' ? (a->op_sel_hi >> i & 1 ? 'h' : 'f') : type;
    uint32_t source = is_vector ? emu_encode_vgpr(o) : emu_encode_scalar(decoder, o, constant);
    bool neg = o->neg, abs = o->abs;
    if (strchr("xf", type))
        neg ^= a->neg_lo >> i & 1;
    if (type == 'x')
        abs |= a->neg_hi >> i & 1;
    bool lower_sign = (neg || abs) && !(a->row->variants & EMU_VARIANT_MODIFIER);
    if (!is_vector && (needs_vector(a, i, type) || lower_sign)) {
        source = broadcast(decoder, source, is_wide(type));
        is_vector = true;
    }
    if (type == 'k')
        return packed_source(a, i, source);
    if (is_vector && !is_wide(type))
        source = select_part(a, i, type, o, source);
    if (lower_sign)
        source = change_sign(decoder, source, type, neg, abs);
    else
        a->op->neg |= neg ? bit : 0, a->op->abs |= abs ? bit : 0;
    if (!is_vector)
        a->op->scalar_sources |= bit;
    if (a->is_dpp && i == 0)
        source = emu_lower_dpp(decoder, a->text, source, is_wide(type) ? 2 : 1);
    return source;
}

/* Packed f32: each half takes either register of the pair; a constant serves both. */
static void encode_pair(alu *a, int i, const emu_operand *o, uint32_t *lo, uint32_t *hi)
{
    bool is_constant = o->kind == EMU_INTEGER || o->kind == EMU_FLOAT;
    uint32_t step = o->kind == EMU_VGPR ? EMU_VGPR_STRIDE : is_constant ? 0 : 1;
    uint32_t source =
        o->kind == EMU_VGPR ? emu_encode_vgpr(o) : emu_encode_scalar(a->decoder, o, 'f');
    if (o->kind != EMU_VGPR)
        a->op->scalar_sources |= (uint8_t)(1 << i);
    *lo = source + (a->op_sel >> i & 1 ? step : 0);
    *hi = source + (a->op_sel_hi >> i & 1 ? step : 0);
    a->op->neg |= (uint8_t)((a->neg_lo ^ (uint32_t)o->neg << i) & 1u << i);
    a->op->abs |= (uint8_t)((a->neg_hi ^ (uint32_t)o->neg << i) & 1u << i);
}

/* v_pk_mov_b32: op_sel picks one register of each source. */
static uint32_t encode_half_of_pair(alu *a, int i, const emu_operand *o)
{
    uint32_t half = a->op_sel >> i & 1;
    if (o->kind == EMU_VGPR)
        return emu_encode_vgpr(o) + half * EMU_VGPR_STRIDE;
    uint32_t source = emu_encode_scalar(a->decoder, o, 'i');
    return broadcast(a->decoder, o->kind == EMU_SCALAR ? source + half : source, false);
}

static bool encode_sources(alu *a, const char *types, int first_operand)
{
    emu_op *op = a->op;
    uint32_t *slot[MAX_SOURCES] = {&op->a, &op->b, &op->c};
    uint32_t *high[MAX_SOURCES] = {&op->a2, &op->b2, &op->c2};
    for (int i = 0; i < a->n_sources; i++) {
        const emu_operand *o = &a->text->operand[first_operand + i];
        if (types[i] == '+')
            *slot[i] = op->d;
        else if (first_operand + i >= a->text->n_operands)
            return emu_decode_fail(a->decoder, a->text, "too few operands");
        else if (types[i] == 'v')
            encode_pair(a, i, o, slot[i], high[i]);
        else if (types[i] == 'y')
            *slot[i] = encode_half_of_pair(a, i, o);
        else
            *slot[i] = encode_source(a, i, types[i], o);
    }
    return true;
}

static bool encode_results(alu *a, const char *types, int n)
{
    for (int i = 0; i < n; i++) {
        const emu_operand *o = &a->text->operand[i];
        bool is_scalar = strchr("spS", types[i]) != NULL;
        if (i >= a->text->n_operands || o->kind != (is_scalar ? EMU_SCALAR : EMU_VGPR))
            return emu_decode_fail(a->decoder, a->text, "result %d is not a register", i);
        uint32_t at = is_scalar ? o->index : emu_encode_vgpr(o);
        *(i == 0 ? &a->op->d : &a->op->a2) = at;
    }
    return true;
}

static bool encode_output_modifiers(alu *a)
{
    emu_op *op = a->op;
    bool clamp = emu_modifier_flag(a->text, "clamp");
    if (strstr(a->row->mnemonic, "_clamp"))
        clamp = false;
    if (a->row->variants & EMU_VARIANT_MODIFIER) {
        op->modifier = clamp;
        clamp = false;
    }
    uint32_t result = op->d;
    if (!emu_lower_omod(a->decoder, a->text, a->row, result))
        return false;
    return !clamp || emu_lower_clamp(a->decoder, a->text, a->row, result);
}

/* The part of its register that a result of a type fills. */
static emu_part result_part(const alu *a, char type)
{
    uint32_t op_sel = a->op_sel >> a->n_sources;
    if (a->is_sdwa && type == 'D')
        return emu_sdwa_part(a->text, "dst_sel");
    if (type == 'M' || (type == 'H' && !(op_sel & 1)))
        return emu_part_low;
    if (type == 'N' || type == 'H')
        return emu_part_high;
    if (type == 'B')
        return (emu_part){.shift = (uint8_t)(8 * (op_sel & 3)), .width = 8};
    return emu_part_whole;
}

/* What follows the instruction: conversion to f16, omod and clamp, and for part of a register, its insertion
 * from a temporary. */
static bool finish_result(alu *a, char type)
{
    emu_part part = result_part(a, type);
    uint32_t to = a->op->d;
    if (part.width < 32)
        a->op->d = emu_decoder_temporary(a->decoder, 1);
    if (type == 'M' || type == 'N')
        emu_lower_call_after(a->decoder, "v_cvt_f16_f32", a->op->d);
    if (!encode_output_modifiers(a))
        return false;
    if (part.width < 32)
        emu_lower_insert(a->decoder, to, a->op->d, part,
                         a->is_sdwa && type == 'D' ? emu_sdwa_unused(a->text)
                                                   : EMU_UNUSED_PRESERVE);
    return true;
}

static void choose_variant(alu *a)
{
    emu_op *op = a->op;
    uint32_t index = 0, n_scalar_variants = 1;
    if (a->row->variants & EMU_VARIANT_SCALAR) {
        bool accumulates = strchr(a->row->operands, '+') != NULL;
        n_scalar_variants = (1u << a->n_sources) >> accumulates;
        index = op->scalar_sources;
    }
    if (a->row->variants & EMU_VARIANT_MODIFIER && (op->neg || op->abs || op->modifier))
        index += n_scalar_variants;
    op->exec = a->row->exec[index];
}

bool emu_encode_alu(emu_decoder *decoder, const emu_text *text, const emu_row *row, emu_op *op)
{
    const char *equal = strchr(row->operands, '=');
    int n_results = (int)(equal - row->operands), n_sources = (int)strlen(equal + 1);
    ASSERT(n_results <= 2 && n_sources <= MAX_SOURCES);
    alu a = {
        .decoder = decoder,
        .text = text,
        .row = row,
        .op = op,
        .n_sources = n_sources,
        .is_sdwa = !strcmp(text->encoding, "sdwa"),
        .is_dpp = !strcmp(text->encoding, "dpp"),
        .op_sel = emu_modifier_bits(text, "op_sel", 0),
        .op_sel_hi = emu_modifier_bits(text, "op_sel_hi", strchr(row->operands, 'x') ? 0 : 7),
        .neg_lo = emu_modifier_bits(text, "neg_lo", 0),
        .neg_hi = emu_modifier_bits(text, "neg_hi", 0),
    };
    if (!encode_results(&a, row->operands, n_results) || !encode_sources(&a, equal + 1, n_results))
        return false;
    if (!finish_result(&a, row->operands[0]))
        return false;
    if (a.is_dpp)
        emu_decoder_after(decoder, ".exec_restore");
    choose_variant(&a);
    return true;
}

/* Scalar instructions: 'k' is a 16-bit constant that is sign-extended; compares have no result and no '='. */
static uint32_t encode_salu_source(emu_decoder *decoder, const emu_operand *o, char type)
{
    if (type == 'k' && o->kind == EMU_INTEGER)
        return emu_encode_constant(decoder, (uint64_t)(int64_t)(int16_t)o->integer, 1);
    return emu_encode_scalar(decoder, o, type);
}

bool emu_encode_salu(emu_decoder *decoder, const emu_text *text, const emu_row *row, emu_op *op)
{
    uint32_t *slot[MAX_SOURCES] = {&op->a, &op->b, &op->c};
    int i = 0;
    if (strchr(row->operands, '=')) {
        if (text->n_operands == 0 || text->operand[0].kind != EMU_SCALAR)
            return emu_decode_fail(decoder, text, "result is not a scalar register");
        op->d = text->operand[i++].index;
    }
    const char *s = strchr(row->operands, '=');
    s = s ? s + 1 : row->operands;
    for (int n = 0; *s && n < MAX_SOURCES; s++, n++) {
        if (*s == '+') {
            *slot[n] = op->d;
            continue;
        }
        if (i >= text->n_operands)
            return emu_decode_fail(decoder, text, "too few operands");
        *slot[n] = encode_salu_source(decoder, &text->operand[i++], *s);
    }
    op->exec = row->exec[0];
    return true;
}
