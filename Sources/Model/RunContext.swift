import System

/// The context of all operations and deliveries of one run.
package struct RunContext: Sendable {
  /// The run's number in this process, from 1.
  package let number: Int
  package let runID: String

  /// The job's folder in the outbox.
  package private(set) var folder: JobFolder
  package let staging: Staging

  /// When the job was accepted or, for a run that replaced others, the first of these, in milliseconds since 1970, UTC.
  /// Sources requested since then are not requested again.
  package var accepted = Int.max

  /// The first run of the chain of replacements that ends with this one. Requests that are sent once per run are not
  /// sent again. Default: nil, it has replaced none.
  package var firstRunID: String?

  /// Whether files may exist under the names of results.
  package var mayFindFiles = true

  /// Whether earlier downloads and results are ignored, also by a process that continues the run with other options.
  package var isRefreshing = false

  /// The user id of the manifest's owner; nil when unknown.
  package var user: Int?

  /// Whether its entries may name files of this machine. Entries from a server may not.
  package var mayReadFiles = true

  package init(
    number: Int, runID: String, folder: JobFolder, staging: Staging, accepted: Int = Int.max, firstRunID: String? = nil,
    mayFindFiles: Bool = true, isRefreshing: Bool = false, user: Int? = nil, mayReadFiles: Bool = true
  ) {
    self.number = number
    self.runID = runID
    self.folder = folder
    self.staging = staging
    self.accepted = accepted
    self.firstRunID = firstRunID
    self.mayFindFiles = mayFindFiles
    self.isRefreshing = isRefreshing
    self.user = user
    self.mayReadFiles = mayReadFiles
  }

  /// The same run, with its documents in its folder of `history`.
  package var inHistory: RunContext {
    var run = self
    run.folder = JobFolder(
      path: folder.history + "/" + runID, name: folder.name, root: folder.root, outbox: folder.outbox,
      pictures: folder.pictures)
    return run
  }

  /// Whether its documents go to `history`.
  package var isInHistory: Bool { !folder.path.isIdentical(to: folder.root + "/" + folder.name) }

  package var job: String { folder.name }

  package var owner: PictureOwner { user.map(PictureOwner.user) ?? .run(runID) }
}

/// The owner of the pictures of a run. A compromised worker has access to the pictures of one owner only.
package enum PictureOwner: Sendable, Equatable {
  /// The user who owns the manifest.
  case user(Int)

  /// The run itself, when the user is unknown.
  case run(String)
}
