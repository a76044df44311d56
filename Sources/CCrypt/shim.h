#pragma once
#include <crypt.h>

/// How much memory one look at a password needs.
static inline int ccrypt_scratch_size(void) { return (int)sizeof(struct crypt_data); }
