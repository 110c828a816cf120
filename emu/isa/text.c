/* emu/isa/text.c: splits a printed instruction into mnemonic, operands and modifiers.
 *
 * LLVM prints "\tmnemonic op, op, op modifier modifier"; the same printer works in comgr and in llvm-mc.  Operands
 * end at the first blank that no comma precedes.  Comments start with " ;".
 * Tested by tests/emu/test_text.c.
 * Source: LLVM AMDGPUOperandSyntax, AMDGPUModifierSyntax.            SPDX-License-Identifier: MIT
 */
#include "emu/isa/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { N_OPERANDS = sizeof((emu_text *)0)->operand / sizeof(emu_operand) };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

void emu_text_mnemonic(const char *line, char mnemonic[64], char encoding[8])
{
    static const char *const suffixes[] = {"_e32", "_e64", "_dpp", "_sdwa"};
    size_t n = strspn(line, " \t");
    const char *start = line + n;
    n = strcspn(start, " \t\n");
    n = n < 63 ? n : 63;
    memcpy(mnemonic, start, n);
    mnemonic[n] = 0;
    encoding[0] = 0;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t m = strlen(suffixes[i]);
        if (n > m && !strcmp(mnemonic + n - m, suffixes[i])) {
            strcpy(encoding, suffixes[i] + 1);
            mnemonic[n - m] = 0;
            return;
        }
    }
}

/* "3" or "[2:5]" behind a register letter. */
static bool parse_registers(const char *s, emu_operand *out)
{
    char *end;
    if (is_digit(*s)) {
        out->index = (uint32_t)strtoul(s, &end, 10);
        out->n = 1;
        return *end == 0;
    }
    if (*s != '[' || !is_digit(s[1]))
        return false;
    out->index = (uint32_t)strtoul(s + 1, &end, 10);
    uint32_t last = out->index;
    if (*end == ':')
        last = (uint32_t)strtoul(end + 1, &end, 10);
    out->n = last - out->index + 1;
    return *end == ']' && end[1] == 0 && last >= out->index;
}

static bool parse_special(const char *s, emu_operand *out)
{
    static const struct {
        const char *name;
        uint16_t index, n;
    } specials[] = {
        {"vcc", EMU_S_VCC, 2},
        {"exec", EMU_S_EXEC, 2},
        {"m0", EMU_S_M0, 1},
        {"vcc_lo", EMU_S_VCC, 1},
        {"vcc_hi", EMU_S_VCC + 1, 1},
        {"exec_lo", EMU_S_EXEC, 1},
        {"exec_hi", EMU_S_EXEC + 1, 1},
        {"src_shared_base", EMU_S_SHARED_BASE, 2},
        {"src_private_base", EMU_S_PRIVATE_BASE, 2},
        {"src_scc", EMU_S_SCC, 2},
        {"flat_scratch", 102, 2},
        {"flat_scratch_lo", 102, 1},
        {"flat_scratch_hi", 103, 1},
        {"xnack_mask", 104, 2},
        {"xnack_mask_lo", 104, 1},
        {"xnack_mask_hi", 105, 1},
    };
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (!strcmp(s, specials[i].name)) {
            out->kind = EMU_SCALAR;
            out->index = specials[i].index;
            out->n = specials[i].n;
            return true;
        }
    return false;
}

static bool parse_number(const char *s, emu_operand *out)
{
    char *end;
    if (!is_digit(*s) && *s != '-')
        return false;
    out->literal = strstr(s, "0x") != NULL;
    if (!out->literal && strpbrk(s, ".eE")) {
        out->kind = EMU_FLOAT;
        out->real = strtod(s, &end);
    } else {
        out->kind = EMU_INTEGER;
        out->integer = *s == '-' ? strtoll(s, &end, 0) : (int64_t)strtoull(s, &end, 0);
    }
    return *end == 0 && end != s;
}

/* -x, |x|, -|x| and sext(x) around a register; s is cut as needed. */
static char *strip_signs(char *s, emu_operand *out)
{
    if (!strncmp(s, "sext(", 5)) {
        out->sext = true;
        s += 5;
        s[strcspn(s, ")")] = 0;
    }
    if (*s == '-' && !is_digit(s[1])) {
        out->neg = true;
        s++;
    }
    if (*s == '|') {
        out->abs = true;
        s++;
        s[strcspn(s, "|")] = 0;
    }
    return s;
}

static bool parse_operand(char *s, uint32_t accum_offset, emu_operand *out)
{
    memset(out, 0, sizeof *out);
    s = strip_signs(s, out);
    if (*s == 'v' || *s == 'a') {
        out->kind = EMU_VGPR;
        if (parse_registers(s + 1, out)) {
            out->index += *s == 'a' ? accum_offset : 0;
            return true;
        }
    }
    out->kind = EMU_SCALAR;
    if (*s == 's' && parse_registers(s + 1, out))
        return out->index + out->n <= EMU_S_VCC;
    if (!strncmp(s, "ttmp", 4) && parse_registers(s + 4, out)) {
        out->index += 108;
        return out->index + out->n <= EMU_S_M0;
    }
    if (!strcmp(s, "off")) {
        out->kind = EMU_OFF;
        return true;
    }
    if (parse_special(s, out))
        return true;
    out->kind = EMU_NONE;
    return parse_number(s, out);
}

/* Where the operand at s ends: at a comma or blank outside of brackets. */
static char *operand_end(char *s)
{
    int depth = 0;
    for (; *s; s++) {
        if (*s == '[' || *s == '(')
            depth++;
        if (*s == ']' || *s == ')')
            depth--;
        if (depth == 0 && (*s == ',' || *s == ' '))
            break;
    }
    return s;
}

/* A word that is a modifier although it stands where operands do ("buffer_inv sc1", "s_getreg_b32 s0, hwreg(..)"). */
static bool starts_modifiers(const char *s)
{
    static const char *const words[] = {"sc0",   "sc1",    "nt",      "offset:", "hwreg(",
                                        "vmcnt", "expcnt", "lgkmcnt", "sendmsg", "gpr_idx("};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncmp(s, words[i], strlen(words[i])))
            return true;
    return false;
}

static void copy_modifiers(const char *s, emu_text *out)
{
    size_t n = strcspn(s, ";\n");
    n = n < sizeof out->modifiers - 1 ? n : sizeof out->modifiers - 1;
    while (n > 0 && isspace((unsigned char)s[n - 1]))
        n--;
    memcpy(out->modifiers, s, n);
    out->modifiers[n] = 0;
}

bool emu_text_parse(const char *line, uint32_t accum_offset, emu_text *out)
{
    char buffer[512];
    emu_text_mnemonic(line, out->mnemonic, out->encoding);
    out->n_operands = 0;
    out->modifiers[0] = 0;
    const char *start = line + strspn(line, " \t");
    start += strcspn(start, " \t\n");
    size_t n = strcspn(start, ";\n");
    if (n >= sizeof buffer)
        return false;
    memcpy(buffer, start, n);
    buffer[n] = 0;
    char *s = buffer + strspn(buffer, " ");
    while (*s && !starts_modifiers(s)) {
        char *end = operand_end(s), stop = *end;
        if (out->n_operands == N_OPERANDS)
            return false;
        *end = 0;
        if (!parse_operand(s, accum_offset, &out->operand[out->n_operands++]))
            return false;
        s = stop ? end + 1 : end;
        s += strspn(s, " ");
        if (stop != ',')
            break;
    }
    copy_modifiers(s, out);
    return true;
}

/* Where the text behind "name" starts, as a whole word; NULL when absent. */
static const char *find_modifier(const emu_text *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *s = text->modifiers; *s; s += strcspn(s, " "), s += strspn(s, " "))
        if (!strncmp(s, name, n) && (s[n] == 0 || s[n] == ' ' || s[n] == ':'))
            return s + n;
    return NULL;
}

bool emu_modifier_flag(const emu_text *text, const char *name)
{
    return find_modifier(text, name) != NULL;
}

bool emu_modifier_int(const emu_text *text, const char *name, int64_t *value)
{
    const char *s = find_modifier(text, name);
    char *end;
    if (!s || *s != ':')
        return false;
    *value = strtoll(s + 1, &end, 0);
    return end != s + 1;
}

uint32_t emu_modifier_bits(const emu_text *text, const char *name, uint32_t otherwise)
{
    const char *s = find_modifier(text, name);
    uint32_t bits = 0;
    if (!s || s[0] != ':' || s[1] != '[')
        return otherwise;
    for (int i = 0; *s && *s != ']' && *s != ' ' && i < 32; s++)
        if (*s == '0' || *s == '1')
            bits |= (uint32_t)(*s == '1') << i++;
    return bits;
}

bool emu_modifier_word(const emu_text *text, const char *name, char word[32])
{
    const char *s = find_modifier(text, name);
    if (!s || *s != ':')
        return false;
    size_t n = strcspn(s + 1, " ");
    n = n < 31 ? n : 31;
    memcpy(word, s + 1, n);
    word[n] = 0;
    return true;
}
