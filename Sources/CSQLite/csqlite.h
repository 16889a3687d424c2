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
