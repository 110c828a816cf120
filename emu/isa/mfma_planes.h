/* emu/isa/mfma_planes.h: operands of matrix instructions as planes of f32 or i32 numbers.
 *
 * Every small type is exact in f32, subnormals as well.
 * Source: CDNA3 ISA guide, "Data formats" (8-bit floats are FNUZ: no infinity, 0x80 is NaN).
 * SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_MFMA_PLANES_H
#define MOESAIC_EMU_ISA_MFMA_PLANES_H

#include "emu/isa/mfma_operand.h"

typedef struct mfma_planes {
    uint8_t bytes[MFMA_MAX_VALUES * EMU_VGPR_STRIDE] __attribute__((aligned(64)));
} mfma_planes;

/* `bits` of a small float in the low end of each word: sign bit at `sign`, the field below it moved to f32's place and
 * scaled by the difference of the exponents' biases, which also makes numbers of subnormals. */
LANE_INLINE u32v widen_small(u32v bits, uint32_t sign, uint32_t mantissa_bits, float scale)
{
    u32v magnitude = (bits & ((1u << sign) - 1)) << (23 - mantissa_bits);
    f32v value = (f32v)magnitude * scale;
    return (u32v)value | (bits & 1u << sign) << (31 - sign);
}

LANE_INLINE u32v widen_f16(u32v bits)
{
    u32v is_special = (u32v)((bits & 0x7c00) == 0x7c00);
    return widen_small(bits, 15, 10, 0x1p112f) | (is_special & 0x7f800000);
}

LANE_INLINE u32v widen_fp8(u32v bits, bool is_bf8)
{
    u32v is_nan = (u32v)(bits == 0x80);
    u32v value = is_bf8 ? widen_small(bits, 7, 2, 0x1p111f) : widen_small(bits, 7, 3, 0x1p119f);
    return (value & ~is_nan) | (is_nan & 0x7fc00000);
}

/* Value `at` of the register as f32 bits; as a signed integer for I8. */
LANE_INLINE u32v unpack(mfma_type t, u32v word, uint32_t at)
{
    switch (t) {
    case F32:
        return word;
    case XF32:
        return word & 0xffffe000;
    case BF16:
        return (word >> 16 * at) << 16;
    case F16:
        return widen_f16(word >> 16 * at & 0xffff);
    case I8:
        return (u32v)((i32v)(word << (24 - 8 * at)) >> 24);
    default:
        return widen_fp8(word >> 8 * at & 0xff, t == BF8);
    }
}

static __attribute__((noinline)) void unpack_planes(mfma_type t, uint32_t n_planes,
                                                    const uint8_t *registers, mfma_planes *out)
{
    uint32_t per = values_per_register(t);
    for (uint32_t p = 0; p < n_planes; p++)
        for (uint32_t c = 0; c < N_CHUNKS; c++)
            *chunk_of(out->bytes + CHUNK_BYTES * c, p) =
                unpack(t, *chunk_of(registers + CHUNK_BYTES * c, p / per), p % per);
}

#endif
