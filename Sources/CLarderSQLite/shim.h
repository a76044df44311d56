#pragma once
#include <sqlite3.h>

// Swift does not import variadic functions and macros that are pointers.

// A null `bytes` is bound as an empty BLOB: sqlite3_bind_blob64 would bind NULL.

/// Call it before the first connection is opened. With the statistics, SQLite locks a global mutex at each allocation.
static inline int csqlite_disable_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

static inline int csqlite_configure(sqlite3 *connection, int option, int value) {
    return sqlite3_db_config(connection, option, value, (int *)0);
}

static inline int csqlite_bind_copied(sqlite3_stmt *statement, int index, const void *bytes, unsigned long long count) {
    return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

/// The bytes must stay in place until the statement is reset.
static inline int csqlite_bind_borrowed(sqlite3_stmt *statement, int index, const void *bytes, unsigned long long count) {
    return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", count, SQLITE_STATIC);
}
