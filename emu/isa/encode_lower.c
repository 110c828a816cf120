/* emu/isa/encode_lower.c: rare forms of vector instructions as operations of their own.
 *
 * The operations are rows of exec_vop_cross.c: .extract .insert .halves .dpp .exec_restore .clamp .omod.
 * Source: CDNA3 ISA guide, sections "DPP" and "SDWA"; LLVM AMDGPUModifierSyntax.    SPDX-License-Identifier: MIT
 */
#include "emu/isa/encode_lower.h"

#include "emu/isa/decode.h"
#include "emu/isa/rows.h"
#include "emu/isa/text.h"

#include <stdlib.h>
#include <string.h>

emu_part emu_sdwa_part(const emu_text *text, const char *selector)
{
    static const struct {
        const char *name;
        emu_part part;
    } parts[] = {
        {"BYTE_0", {0, 8}},  {"BYTE_1", {8, 8}},  {"BYTE_2", {16, 8}},
        {"BYTE_3", {24, 8}}, {"WORD_0", {0, 16}}, {"WORD_1", {16, 16}},
    };
    char word[32];
    if (emu_modifier_word(text, selector, word))
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (!strcmp(word, parts[i].name))
                return parts[i].part;
    return emu_part_whole;
}

emu_unused emu_sdwa_unused(const emu_text *text)
{
    char word[32];
    if (!emu_modifier_word(text, "dst_unused", word))
        return EMU_UNUSED_PAD;
    return !strcmp(word, "UNUSED_PRESERVE") ? EMU_UNUSED_PRESERVE
           : !strcmp(word, "UNUSED_SEXT")   ? EMU_UNUSED_SEXT
                                            : EMU_UNUSED_PAD;
}

uint32_t emu_lower_extract(emu_decoder *decoder, uint32_t source, emu_part part, bool sign)
{
    emu_op *op = emu_decoder_before(decoder, sign ? ".extract_signed" : ".extract");
    op->d = emu_decoder_temporary(decoder, 1);
    op->a = source;
    op->imm = 32 - part.shift - part.width; /* to the left, then to the right */
    op->imm2 = 32 - part.width;
    return op->d;
}

uint32_t emu_lower_halves(emu_decoder *decoder, uint32_t source, bool low_is_high,
                          bool high_is_high)
{
    emu_op *op = emu_decoder_before(decoder, ".halves");
    op->d = emu_decoder_temporary(decoder, 1);
    op->a = source;
    op->imm = low_is_high ? 16 : 0;   /* shift that brings the half down */
    op->imm2 = high_is_high ? 0 : 16; /* shift that brings the half up */
    return op->d;
}

uint32_t emu_lower_call(emu_decoder *decoder, const char *mnemonic, uint32_t source)
{
    emu_op *op = emu_decoder_before(decoder, mnemonic);
    op->d = emu_decoder_temporary(decoder, 1);
    op->a = source;
    return op->d;
}

void emu_lower_call_after(emu_decoder *decoder, const char *mnemonic, uint32_t in_place)
{
    emu_op *op = emu_decoder_after(decoder, mnemonic);
    op->d = op->a = in_place;
}

void emu_lower_insert(emu_decoder *decoder, uint32_t to, uint32_t from, emu_part part,
                      emu_unused unused)
{
    static const char *const names[] = {".insert_pad", ".insert_sext", ".insert"};
    emu_op *op = emu_decoder_after(decoder, names[unused]);
    op->d = to;
    op->a = from;
    op->imm = part.shift;
    op->imm2 = part.width;
}

/* The control field that the modifiers spell, or -1. */
static int dpp_control(const emu_text *text)
{
    static const struct {
        const char *name;
        int control;
    } controls[] = {
        {"row_shl", EMU_DPP_ROW_SHL},       {"row_shr", EMU_DPP_ROW_SHR},
        {"row_ror", EMU_DPP_ROW_ROR},       {"row_newbcast", EMU_DPP_ROW_NEWBCAST},
        {"wave_shl", EMU_DPP_WAVE_SHL - 1}, {"wave_rol", EMU_DPP_WAVE_ROL - 1},
        {"wave_shr", EMU_DPP_WAVE_SHR - 1}, {"wave_ror", EMU_DPP_WAVE_ROR - 1},
    };
    int64_t n;
    char word[32];
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
        if (emu_modifier_int(text, controls[i].name, &n))
            return controls[i].control + (int)n;
    if (emu_modifier_int(text, "row_bcast", &n))
        return n == 15 ? EMU_DPP_ROW_BCAST15 : EMU_DPP_ROW_BCAST31;
    if (emu_modifier_flag(text, "row_mirror"))
        return EMU_DPP_ROW_MIRROR;
    if (emu_modifier_flag(text, "row_half_mirror"))
        return EMU_DPP_ROW_HALF_MIRROR;
    if (!emu_modifier_word(text, "quad_perm", word) || strlen(word) < 9)
        return -1;
    int control = 0;
    for (int lane = 0; lane < 4; lane++)
        control |= ((word[1 + 2 * lane] - '0') & 3) << (2 * lane);
    return control;
}

uint32_t emu_lower_dpp(emu_decoder *decoder, const emu_text *text, uint32_t source, int n_dwords)
{
    int control = dpp_control(text);
    int64_t row_mask = 0xf, bank_mask = 0xf;
    if (control < 0 || control >= EMU_N_DPP)
        emu_decode_fail(decoder, text, "unknown DPP control");
    emu_modifier_int(text, "row_mask", &row_mask);
    emu_modifier_int(text, "bank_mask", &bank_mask);
    emu_op *op = emu_decoder_before(decoder, ".dpp");
    op->d = emu_decoder_temporary(decoder, n_dwords);
    op->a = source;
    op->n_dwords = (uint8_t)n_dwords;
    op->imm = control;
    op->imm2 = (int32_t)(row_mask & 0xf) | (int32_t)(bank_mask & 0xf) << 4;
    op->flags = emu_modifier_flag(text, "bound_ctrl");
    return op->d;
}

/* What the instruction's result is; -1 when it is no floating-point number. */
static int result_kind(const emu_row *row)
{
    const char *type = row->mnemonic;
    bool packed = !strncmp(type, "v_pk_", 5);
    if (!strncmp(type, "v_cvt_", 6))
        type += 5;
    type = strstr(type, "_f");
    while (type && !(type[2] == '1' || type[2] == '3' || type[2] == '6'))
        type = strstr(type + 2, "_f");
    if (!type)
        return -1;
    if (type[2] == '1')
        return packed ? EMU_RESULT_PK_F16 : EMU_RESULT_F16;
    if (type[2] == '6')
        return EMU_RESULT_F64;
    return packed ? EMU_RESULT_PK_F32 : EMU_RESULT_F32;
}

static bool lower_result(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                         const char *mnemonic, uint32_t result, int amount)
{
    int kind = result_kind(row);
    if (strchr("sSp", row->operands[0]))
        return true; /* compares: clamp asks for exceptions only */
    if (kind < 0)
        return emu_decode_fail(decoder, text, "%s of an integer result", mnemonic + 1);
    emu_op *op = emu_decoder_after(decoder, mnemonic);
    op->d = result;
    op->imm = kind;
    op->imm2 = amount;
    return true;
}

bool emu_lower_clamp(emu_decoder *decoder, const emu_text *text, const emu_row *row,
                     uint32_t result)
{
    return lower_result(decoder, text, row, ".clamp", result, 0);
}

/* mul:2, mul:4, div:2 as a power of two. */
bool emu_lower_omod(emu_decoder *decoder, const emu_text *text, const emu_row *row, uint32_t result)
{
    int64_t mul = 1, div = 1;
    emu_modifier_int(text, "mul", &mul);
    emu_modifier_int(text, "div", &div);
    int amount = mul == 4 ? 2 : mul == 2 ? 1 : div == 2 ? -1 : 0;
    return amount == 0 || lower_result(decoder, text, row, ".omod", result, amount);
}
