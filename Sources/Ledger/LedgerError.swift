/// Why a ledger cannot be used.
package enum LedgerError: Error, CustomStringConvertible {
  /// It was written by a newer version of the program.
  case newer(path: String, version: Int, known: Int)

  package var description: String {
    switch self {
    case .newer(let path, let version, let known):
      "\(path) has ledger version \(version); this program knows versions up to \(known). Use the newer program; "
        + "nothing was changed."
    }
  }
}
