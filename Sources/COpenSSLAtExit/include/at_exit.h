#pragma once

/// Does nothing: Swift imports a C target only if it has a header. What this target does stands in at_exit.c.
static inline void copenssl_at_exit(void) {}
