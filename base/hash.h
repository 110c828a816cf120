/* base/hash.h: digests (libcrypto) and a small non-cryptographic mix.    SPDX-License-Identifier: MIT */
#ifndef MOESAIC_BASE_HASH_H
#define MOESAIC_BASE_HASH_H

#include "base/status.h"

#include <stdint.h>

/* SHA-256 as 64 hexadecimal digits. */
typedef struct hash_hex {
    char s[65];
} hash_hex;

/* Digest of n bytes.  Errors: E_NOMEM when libcrypto fails. */
moesaic_status hash_sha256(const void *bytes, size_t n, hash_hex *out, moesaic_text *err);

/* splitmix64 (Steele, Lea, Flood 2014): a good 64-bit mix of one word, for seeds and reproducible choices. */
static inline uint64_t hash_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Next number of a splitmix64 sequence. */
static inline uint64_t hash_next(uint64_t *state)
{
    uint64_t x = *state;
    *state += 0x9e3779b97f4a7c15u;
    return hash_mix(x);
}

#endif
