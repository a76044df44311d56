#pragma once
#include <crypt.h>

/// The size of the working memory for the verification of one password, in bytes.
static inline int ccrypt_scratch_size(void) { return (int)sizeof(struct crypt_data); }
