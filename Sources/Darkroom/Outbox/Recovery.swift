import Ledger

/// Goes on with a job that an earlier process was killed over.
struct Recovery {
  let placement: Placement
  let runID: String
  let index: JobIndex

  /// Brings deliveries that were begun to their end, and takes what has ended out of the index.
  /// - Returns: What the rows that are durable add up to.
  /// - Throws: `SystemError`, `SQLiteError`.
  func recover() throws -> JobTally {
    let intended = try placement.ledger.intended(run: runID)
    let settled = try intended.map(settle)
    for folder in Set(intended.compactMap { $0.delivery.map { Folder.parent(of: placement.folder.file($0.target)) } }) {
      try Folder.syncIfThere(folder)
    }
    try placement.ledger.finish(settled, run: runID, job: placement.folder.name)
    // Not before: an intent whose staged file is gone means that the file was delivered.
    for (entry, now) in zip(intended, settled) where now.delivery == nil {
      if let delivery = entry.delivery { placement.staging.remove(delivery.staged) }
    }
    var tally = JobTally()
    let log = try placement.staging.create(placement.staging.document("entries.jsonl"))
    try placement.ledger.eachEndedPage(run: runID) { page in
      for entry in page { tally.add(try JSONValue(parsing: entry.row)) }
      try log.write(page.map { $0.row + "\n" }.joined())
      try index.fill { for entry in page { try index.markEnded(entry.position) } }
    }
    // The last lines may be missing or torn.
    try Folder.rename(log.path, to: placement.folder.entriesLog)
    return tally
  }

  private func settle(_ entry: LedgerEntry) throws -> LedgerEntry {
    guard let delivery = entry.delivery else { return entry }
    switch try placement.recover(delivery) {
    case .placed: return entry
    case .conflict(let message):
      let row = try JSONValue(parsing: entry.row).failed(.conflict(message))
      return LedgerEntry(position: entry.position, delivery: nil, row: row.text)
    }
  }
}

extension JSONValue {
  /// A row of the report, of an entry that had a result which cannot be delivered.
  fileprivate func failed(_ failure: EntryFailure) -> JSONValue {
    guard case .object(let members) = self else { return self }
    return .object(
      members.filter { $0.key != "output" }.map { member in
        member.key == "state" ? Member("state", .string(PhotoRecord.State.failed.rawValue)) : member
      } + [Member("error", failure.row)])
  }
}
