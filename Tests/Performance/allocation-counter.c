// Counts a program's heap allocations from outside: preloaded, it keeps the count in a file that it maps, so that another
// process reads it whenever it wants, and the program under test is not stopped, signalled or linked differently.
//
//   cc -O2 -shared -fPIC -o counter.so allocation-counter.c -ldl
//   ALLOCATION_COUNT_FILE=count LD_PRELOAD=$PWD/counter.so program        (8 bytes, native order)
//
// With ALLOCATION_COUNT_THREADS=loop- only threads whose names begin so are counted.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static _Atomic uint64_t before_the_file;
static _Atomic(_Atomic uint64_t *) counter = &before_the_file;

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void *(*next_aligned_alloc)(size_t, size_t);
static int (*next_posix_memalign)(void **, size_t, size_t);

// dlsym itself may allocate before the real functions are known: it is served from here, and never freed.
static _Alignas(16) char early[4096];
static _Atomic size_t early_used;

static void *allocate_early(size_t size) {
    size_t start = atomic_fetch_add(&early_used, (size + 15) & ~(size_t)15);
    return start + size <= sizeof early ? early + start : NULL;
}

static int is_early(const void *pointer) {
    return (const char *)pointer >= early && (const char *)pointer < early + sizeof early;
}

static char threads[16];

static int is_counted(void) {
    if (!threads[0]) return 1;
    // Asked each time: a thread gets its name after it has started, and perhaps after it first allocates.
    char name[16] = "";
    return prctl(PR_GET_NAME, name) == 0 && strncmp(name, threads, strlen(threads)) == 0;
}

static void count(void) {
    if (!is_counted()) return;
    atomic_fetch_add_explicit(atomic_load_explicit(&counter, memory_order_relaxed), 1, memory_order_relaxed);
}

__attribute__((constructor)) static void start(void) {
    next_calloc = dlsym(RTLD_NEXT, "calloc");
    next_malloc = dlsym(RTLD_NEXT, "malloc");
    next_realloc = dlsym(RTLD_NEXT, "realloc");
    next_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
    next_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");

    const char *prefix = getenv("ALLOCATION_COUNT_THREADS");
    if (prefix) strncpy(threads, prefix, sizeof threads - 1);
    const char *path = getenv("ALLOCATION_COUNT_FILE");
    if (!path) return;
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof(uint64_t)) != 0) return;
    void *mapped = mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED) atomic_store(&counter, (_Atomic uint64_t *)mapped);
}

void *malloc(size_t size) {
    if (!next_malloc) return allocate_early(size);
    count();
    return next_malloc(size);
}

void *calloc(size_t number, size_t size) {
    if (!next_calloc) return allocate_early(number * size);
    count();
    return next_calloc(number, size);
}

void *realloc(void *pointer, size_t size) {
    if (is_early(pointer) || !next_realloc) {
        void *copy = next_malloc ? next_malloc(size) : allocate_early(size);
        if (copy && pointer) memcpy(copy, pointer, size);
        return copy;
    }
    count();
    return next_realloc(pointer, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    if (!next_aligned_alloc) return NULL;
    count();
    return next_aligned_alloc(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    if (!next_posix_memalign) return ENOMEM;
    count();
    return next_posix_memalign(result, alignment, size);
}

void free(void *pointer) {
    static void (*next_free)(void *);
    if (!pointer || is_early(pointer)) return;
    if (!next_free) next_free = dlsym(RTLD_NEXT, "free");
    next_free(pointer);
}
