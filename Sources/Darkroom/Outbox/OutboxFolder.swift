/// Where things lie in the outbox.
struct OutboxFolder: Sendable {
  let path: String

  /// What is not for users: staging, and by default the state.
  var hidden: String { path + "/.darkroom" }
  var staging: String { hidden + "/staging" }

  /// The file that says which process owns the outbox.
  var instanceFile: String { hidden + "/instance" }

  func job(_ name: String) -> JobFolder { JobFolder(path: path + "/" + name, name: name) }
}
