/* emu/isa/mode.h: the wave's MODE register, as far as the host's floating-point unit can follow it.
 *
 * Rounding of f32 and f64 is the host's MXCSR (MODE's f32 field serves both); f16 has a field of its own, which
 * conversions look at.  Kernels that flush f32 denormals flush those of f64, too.
 * Source: CDNA3 ISA guide, "MODE register".                        SPDX-License-Identifier: MIT
 */
#ifndef MOESAIC_EMU_ISA_MODE_H
#define MOESAIC_EMU_ISA_MODE_H

#include <stdbool.h>
#include <stdint.h>
#include <xmmintrin.h>

/* FP_ROUND, two bits at 0 for f32, at 2 for f16 and f64. */
enum { EMU_ROUND_NEAREST, EMU_ROUND_UP, EMU_ROUND_DOWN, EMU_ROUND_TO_ZERO };
enum {
    EMU_MODE_KEEP_F32_DENORMALS = 3u << 4,
    EMU_MODE_KEEP_F16_OUT = 1u << 7,
    EMU_MODE_KEEP_F32_OUT = 1u << 5,
    EMU_MODE_IEEE = 1u << 9,
    EMU_MODE_FP16_OVFL = 1u << 23,
};

/* Bring the host thread to a wave's MODE: when its turn begins, and when it writes MODE. */
static inline void emu_mode_enter(uint32_t mode)
{
    static const unsigned rounding[] = {_MM_ROUND_NEAREST, _MM_ROUND_UP, _MM_ROUND_DOWN,
                                        _MM_ROUND_TOWARD_ZERO};
    const unsigned flush = _MM_FLUSH_ZERO_ON | 0x40 /* denormals are zero */;
    unsigned was = _mm_getcsr(), now = (was & ~(_MM_ROUND_MASK | flush)) | rounding[mode & 3];
    if (!(mode & EMU_MODE_KEEP_F32_DENORMALS))
        now |= flush;
    if (now != was)
        _mm_setcsr(now);
}

/* Back to the host's usual arithmetic. */
static inline void emu_mode_leave(void)
{
    emu_mode_enter(EMU_MODE_KEEP_F32_DENORMALS);
}

#endif
