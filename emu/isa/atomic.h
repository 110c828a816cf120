/* emu/isa/atomic.h: what each atomic instruction makes of the old value, and how it reaches memory.
 *
 * Operations are pure functions atomic_<name>_<bits>(old, data, other).  Memory that other threads or the host
 * may touch is changed by compare and swap, so one loop serves every operation and the hostcall's 64-bit exchange sees
 * whole values; LDS belongs to the one host thread that runs its workgroup and is changed plainly.
 * Source: CDNA3 ISA guide, "Flat/Global/Buffer/DS opcodes".   SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_ATOMIC_H
#define MOESAIC_EMU_ISA_ATOMIC_H

#include "emu/isa/simd_memory.h"

typedef uint32_t (*atomic_u32)(uint32_t old, uint32_t data, uint32_t other);
typedef uint64_t (*atomic_u64)(uint64_t old, uint64_t data, uint64_t other);

/* name, new value of `old` given `data` and `other` (the comparison value of cmpswap); `signed_word` is the signed
 * type of the same width. */
#define ATOMIC_OPERATIONS(X)                                                                       \
    X(swap, data)                                                                                  \
    X(cmpswap, old == other ? data : old)                                                          \
    X(add, old + data)                                                                             \
    X(sub, old - data)                                                                             \
    X(rsub, data - old)                                                                            \
    X(smin, (signed_word)old < (signed_word)data ? old : data)                                     \
    X(smax, (signed_word)old > (signed_word)data ? old : data)                                     \
    X(umin, old < data ? old : data)                                                               \
    X(umax, old > data ? old : data)                                                               \
    X(and, old &data)                                                                              \
    X(or, old | data)                                                                              \
    X(xor, old ^ data)                                                                             \
    X(inc, old >= data ? 0 : old + 1)                                                              \
    X(dec, old == 0 || old > data ? data : old - 1)                                                \
    X(mskor, (old & ~data) | other)                                                                \
    X(wrap, old >= data ? old - data : old + other)

#define ATOMIC_DEFINE(name, new_value)                                                             \
    LANE_INLINE uint32_t atomic_##name##_32(uint32_t old, uint32_t data, uint32_t other)           \
    {                                                                                              \
        typedef int32_t signed_word;                                                               \
        (void)sizeof(signed_word), (void)old, (void)other;                                         \
        return new_value;                                                                          \
    }                                                                                              \
    LANE_INLINE uint64_t atomic_##name##_64(uint64_t old, uint64_t data, uint64_t other)           \
    {                                                                                              \
        typedef int64_t signed_word;                                                               \
        (void)sizeof(signed_word), (void)old, (void)other;                                         \
        return new_value;                                                                          \
    }
ATOMIC_OPERATIONS(ATOMIC_DEFINE)
#undef ATOMIC_DEFINE

LANE_INLINE float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

LANE_INLINE uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

LANE_INLINE double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

LANE_INLINE uint64_t bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

/* A comparison with NaN is false: the old value stays.  cmpswap by value: -0 equals +0. */
#define ATOMIC_DEFINE_FLOAT(bits, word, number, bits_from)                                         \
    LANE_INLINE word atomic_fadd_##bits(word old, word data, word other)                           \
    {                                                                                              \
        (void)other;                                                                               \
        return bits_from(number(old) + number(data));                                              \
    }                                                                                              \
    LANE_INLINE word atomic_fmin_##bits(word old, word data, word other)                           \
    {                                                                                              \
        (void)other;                                                                               \
        return number(data) < number(old) ? data : old;                                            \
    }                                                                                              \
    LANE_INLINE word atomic_fmax_##bits(word old, word data, word other)                           \
    {                                                                                              \
        (void)other;                                                                               \
        return number(data) > number(old) ? data : old;                                            \
    }                                                                                              \
    LANE_INLINE word atomic_fcmpswap_##bits(word old, word data, word other)                       \
    {                                                                                              \
        return number(old) == number(other) ? data : old;                                          \
    }
ATOMIC_DEFINE_FLOAT(32, uint32_t, float_of, bits_of)
ATOMIC_DEFINE_FLOAT(64, uint64_t, double_of, bits_of_double)
#undef ATOMIC_DEFINE_FLOAT

/* f32 holds the sum of two f16 or bf16 closely enough that rounding it again gives the nearest value
 * (24 >= 2 * 11 + 2 significant bits). */
LANE_INLINE uint16_t add_f16(uint16_t a, uint16_t b)
{
    _Float16 x, y;
    memcpy(&x, &a, 2);
    memcpy(&y, &b, 2);
    _Float16 sum = (_Float16)((float)x + (float)y);
    uint16_t bits;
    memcpy(&bits, &sum, 2);
    return bits;
}

LANE_INLINE uint16_t add_bf16(uint16_t a, uint16_t b)
{
    uint32_t sum = bits_of(float_of((uint32_t)a << 16) + float_of((uint32_t)b << 16));
    if ((sum & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(sum >> 16 | 0x40);
    return (uint16_t)((sum + 0x7fff + (sum >> 16 & 1)) >> 16);
}

LANE_INLINE uint32_t atomic_pk_add_f16_32(uint32_t old, uint32_t data, uint32_t other)
{
    (void)other;
    return add_f16((uint16_t)old, (uint16_t)data) |
           (uint32_t)add_f16((uint16_t)(old >> 16), (uint16_t)(data >> 16)) << 16;
}

LANE_INLINE uint32_t atomic_pk_add_bf16_32(uint32_t old, uint32_t data, uint32_t other)
{
    (void)other;
    return add_bf16((uint16_t)old, (uint16_t)data) |
           (uint32_t)add_bf16((uint16_t)(old >> 16), (uint16_t)(data >> 16)) << 16;
}

/* Where the data of an atomic lie in the register file; `returned` NULL when the old value is not wanted. */
typedef struct atomic_registers {
    const uint8_t *data, *other;
    uint8_t *returned;
} atomic_registers;

/* atomic_change_<bits>: apply an operation to *p and give the old value.
 * atomic_chunk_<bits>: the lanes of `mask` of one chunk, ascending; atomic_wave_<bits>: those of exec. */
#define ATOMIC_DEFINE(bits)                                                                        \
    LANE_INLINE uint##bits##_t atomic_change_##bits(atomic_u##bits f, void *p,                     \
                                                    uint##bits##_t data, uint##bits##_t other)     \
    {                                                                                              \
        uint##bits##_t *word = p, old = __atomic_load_n(word, __ATOMIC_RELAXED);                   \
        while (!__atomic_compare_exchange_n(word, &old, f(old, data, other), true,                 \
                                            __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {                 \
        }                                                                                          \
        return old;                                                                                \
    }                                                                                              \
    LANE_INLINE uint##bits##_t atomic_change_plain_##bits(                                         \
        atomic_u##bits f, void *p, uint##bits##_t data, uint##bits##_t other)                      \
    {                                                                                              \
        uint##bits##_t old, new_value;                                                             \
        memcpy(&old, p, sizeof old);                                                               \
        new_value = f(old, data, other);                                                           \
        memcpy(p, &new_value, sizeof old);                                                         \
        return old;                                                                                \
    }                                                                                              \
    LANE_INLINE uint##bits##_t lane_word_##bits(const uint8_t *registers, uint32_t lane)           \
    {                                                                                              \
        uint32_t word[bits / 32];                                                                  \
        for (uint32_t j = 0; j < bits / 32; j++)                                                   \
            memcpy(&word[j], registers + (size_t)EMU_VGPR_STRIDE * j + 4 * lane, 4);               \
        uint##bits##_t value;                                                                      \
        memcpy(&value, word, sizeof value);                                                        \
        return value;                                                                              \
    }                                                                                              \
    LANE_INLINE void atomic_chunk_##bits(atomic_u##bits f, bool plain, atomic_registers r,         \
                                         uint32_t mask, chunk_address at)                          \
    {                                                                                              \
        for (; mask; mask &= mask - 1) {                                                           \
            uint32_t lane = (uint32_t)__builtin_ctz(mask);                                         \
            uint##bits##_t data = lane_word_##bits(r.data, lane);                                  \
            uint##bits##_t other = r.other ? lane_word_##bits(r.other, lane) : 0;                  \
            void *p = lane_pointer(at, lane);                                                      \
            uint##bits##_t old = plain ? atomic_change_plain_##bits(f, p, data, other)             \
                                       : atomic_change_##bits(f, p, data, other);                  \
            if (r.returned)                                                                        \
                load_lane(bits == 32 ? E_D1 : E_D2, r.returned, lane, (const uint8_t *)&old);      \
        }                                                                                          \
    }                                                                                              \
    LANE_INLINE void atomic_wave_##bits(atomic_u##bits f, bool plain, atomic_registers r,          \
                                        uint64_t exec, chunk_address at)                           \
    {                                                                                              \
        for (uint32_t c = 0; c < N_CHUNKS; c++) {                                                  \
            atomic_registers rc = {r.data + CHUNK_BYTES * c,                                       \
                                   r.other ? r.other + CHUNK_BYTES * c : NULL,                     \
                                   r.returned ? r.returned + CHUNK_BYTES * c : NULL};              \
            atomic_chunk_##bits(f, plain, rc, chunk_mask(exec, c), chunk_address_of(at, c));       \
        }                                                                                          \
    }
ATOMIC_DEFINE(32)
ATOMIC_DEFINE(64)
#undef ATOMIC_DEFINE

#endif
