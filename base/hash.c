/* base/hash.c: SHA-256 through libcrypto.    SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include <openssl/evp.h>
#include <stdio.h>

moesaic_status hash_sha256(const void *bytes, size_t n, hash_hex *out, moesaic_text *err)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int length = 0;
    out->s[0] = 0;
    if (EVP_Digest(bytes, n, digest, &length, EVP_sha256(), NULL) != 1 || length != 32)
        return moesaic_fail(err, MOESAIC_E_NOMEM, "libcrypto could not make a SHA-256 of %zu bytes",
                            n);
    for (unsigned i = 0; i < length; i++)
        snprintf(out->s + 2 * i, 3, "%02x", digest[i]);
    return MOESAIC_OK;
}
