/// Where the state lies: the ledger, and for each live job its manifest's snapshot and its index.
struct StateFolder: Sendable {
  let path: String

  var ledger: String { path + "/ledger.sqlite" }
  var instanceFile: String { path + "/instance" }
  var jobs: String { path + "/jobs" }
  var cache: String { path + "/cache" }
  var status: String { path + "/status.json" }

  func job(_ runID: String) -> String { jobs + "/" + runID }
  func snapshot(_ runID: String, extension suffix: String) -> String { job(runID) + "/manifest." + suffix.lowercased() }
  func index(_ runID: String) -> String { job(runID) + "/index.sqlite" }
}
