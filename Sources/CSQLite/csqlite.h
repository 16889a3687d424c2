#pragma once
#include <sqlite3.h>

/// Binds a text that stays as it is until the statement is reset. Swift has no conversion of its bytes to `char`.
static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const void *text, int length) {
  return sqlite3_bind_text(statement, index, text, length, SQLITE_STATIC);
}

// Configures the library for all connections. To be called before anything else. The function is variadic, which Swift cannot
// call.
static inline int csqlite_configure(void) {
  // The count of all memory in use: every allocation of every connection takes one lock for it.
  int code = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  // What a statement changes is kept in memory, in case it has to be undone alone: statements that may need it change few rows.
  // The default is up to 64 KiB, allocated at once for each statement; beyond that, which a few splits of pages reach, a file,
  // which a connection in exclusive mode then uses for all later statements.
  return code == SQLITE_OK ? sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, -1) : code;
}
