#pragma once
#define XXH_INLINE_ALL
#include <xxhash.h>

// XXH_INLINE_ALL makes the library's names macros, which Swift does not import.

struct cxxhash_128_result {
    uint64_t low;
    uint64_t high;
};

static inline uint64_t cxxhash_64(const void *bytes, size_t count, uint64_t seed) {
    return XXH3_64bits_withSeed(bytes, count, seed);
}

/// The secret has at least 136 bytes.
static inline struct cxxhash_128_result cxxhash_128(
    const void *bytes, size_t count, const void *secret, size_t secret_count) {
    XXH128_hash_t hash = XXH3_128bits_withSecret(bytes, count, secret, secret_count);
    struct cxxhash_128_result result = {hash.low64, hash.high64};
    return result;
}
