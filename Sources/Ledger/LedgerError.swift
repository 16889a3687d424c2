import Database

/// Why a ledger cannot be used.
package enum LedgerError: Error, Equatable, CustomStringConvertible {
  /// Its contents do not match their digests, or its structure is damaged.
  case damaged(path: String, why: String)
  /// It was written by a newer version of the program.
  case newer(path: String, version: Int, known: Int)

  package var description: String {
    switch self {
    case .damaged(let path, let why):
      "\(path) is damaged: \(why). The next start sets it aside, and makes a new one from what is left."
    case .newer(let path, let version, let known):
      "\(path) has ledger version \(version); this program knows versions up to \(known). Use the newer program; "
        + "nothing was changed."
    }
  }
}

extension Error {
  /// Whether the error means that a ledger is damaged, by SQLite or by the digests of its rows.
  package var isDamageOfLedger: Bool {
    if case .damaged? = self as? LedgerError { true } else { (self as? SQLiteError)?.isDamage == true }
  }
}
