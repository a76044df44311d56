#include <openssl/crypto.h>

// Without this, OpenSSL frees its tables when the process exits, while the threads of a session still use them, and the program ends
// with SIGSEGV instead of its exit code. The first initialization decides (OPENSSL_init_crypto(3), OPENSSL_INIT_NO_ATEXIT), so it
// happens before `main`, and before libcurl or an app can make another.
__attribute__((constructor)) static void keep_openssl_at_exit(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, 0); }
