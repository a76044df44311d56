#pragma once

/// Does nothing: Swift imports a C target only if it has a header. The code of this target is in at_exit.c.
static inline void copenssl_at_exit(void) {}
