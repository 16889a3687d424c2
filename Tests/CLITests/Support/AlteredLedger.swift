import TestSupport

/// Reads the ledger, which nobody has open, or does to it what the program never would, and gives rows digests that fit.
enum AlteredLedger {
  /// - Parameter statement: What changes rows of `jobs`, `entries`, `named_runs` or `deferred`.
  static func alter(_ folders: DarkroomFolders, _ statement: String) throws {
    let script = """
      import glob, sqlite3, sys

      def row_digest(*values):
          words = []
          for value in values:
              if value is None:
                  words.append(2)
              elif isinstance(value, int):
                  words += [1, value % 2**64]
              else:
                  text = value.encode()
                  words.append(len(text) << 8 | 3)
                  words += [int.from_bytes(text[i:i + 8], "little") for i in range(0, len(text), 8)]
          digest = 0x6A09E667F3BCC908
          for word in words:
              digest = (digest ^ word) * 0x9E3779B97F4A7C15 % 2**64
              digest ^= digest >> 32
          return digest - 2**64 if digest >> 63 else digest

      columns = {
          "jobs": "run_id, name, state, details, outcome, documents, sequence",
          "entries": "run_id, ended, position, row, staged, target, bytes, sha256, origin",
          "named_runs": "job, run_id, number, pages",
          "deferred": "run_id, position, attempts, due_ms, wait_ms, first_ms",
      }
      for path in glob.glob(sys.argv[1] + "/.darkroom/ledger*"):
          if not path.endswith(("-journal", "-wal", "-shm")):
              with sqlite3.connect(path) as database:
                  database.create_function("row_digest", -1, row_digest)
                  for table, names in columns.items():
                      query = f"SELECT count(*) FROM {table} WHERE digest IS NOT row_digest({names})"
                      assert database.execute(query).fetchall() == [(0,)], table
                  assert database.execute(sys.argv[2]).rowcount > 0
                  for table, names in columns.items():
                      database.execute(f"UPDATE {table} SET digest = row_digest({names})")
      """
    _ = try TestPython.run(script, [folders.outbox, statement])
  }

  /// The rows that a query yields, as texts without spaces.
  static func read(_ folders: DarkroomFolders, _ query: String) throws -> [[String]] {
    let script = """
      import glob, sqlite3, sys
      for path in glob.glob(sys.argv[1] + "/.darkroom/ledger*"):
          if not path.endswith(("-journal", "-wal", "-shm")):
              with sqlite3.connect(path) as database:
                  for row in database.execute(sys.argv[2]):
                      print(*row)
      """
    let printed = String(decoding: try TestPython.run(script, [folders.outbox, query]), as: UTF8.self)
    return printed.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
  }
}
