#pragma once
#include <sqlite3.h>

/// `SQLITE_TRANSIENT` is a cast function pointer, which Swift does not import: SQLite copies the bytes before it returns.
static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int length) {
  return sqlite3_bind_text(statement, index, text, length, SQLITE_TRANSIENT);
}

/// See `csqlite_bind_text`.
static inline int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int length) {
  return sqlite3_bind_blob(statement, index, bytes, length, SQLITE_TRANSIENT);
}

// Turns off the count of all memory in use, for which every allocation of every connection takes one lock. To be called
// before anything else. The function is variadic, which Swift cannot call.
static inline int csqlite_disable_memory_status(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
