/// What all operations and deliveries of one run have in common.
package struct RunContext: Sendable {
  /// The run's number in this process, from 1.
  package let number: Int
  package let runID: String

  /// Where the job's things lie in the outbox.
  package private(set) var folder: JobFolder
  package let staging: Staging

  /// When the job was accepted or, if it has replaced others, the first of these, in milliseconds since 1970, UTC. What was
  /// asked for since then is not asked for again.
  package var accepted = Int.max

  /// The first of the runs that it has replaced one after the other: what is asked for once in each run is not asked for again.
  /// Default: nil, it has replaced none.
  package var firstRunID: String?

  /// Whether files may have the names of results already, whoever put them there.
  package var mayFindFiles = true

  /// Whether what earlier runs downloaded and made is ignored, whatever the process that continues the run is told.
  package var isRefreshing = false

  /// Whose file the manifest was, a user's number; nil when that is not known.
  package var user: Int?

  /// Whether its entries may name files of this machine. Those that a server has listed may not.
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

  /// The same run, whose documents go to its folder of `history`.
  package var inHistory: RunContext {
    var run = self
    run.folder = JobFolder(
      path: folder.history + "/" + runID, name: folder.name, root: folder.root, outbox: folder.outbox)
    return run
  }

  /// Whether its documents go to `history`.
  package var isInHistory: Bool { folder.path != folder.root + "/" + folder.name }

  package var job: String { folder.name }

  package var owner: PictureOwner { user.map(PictureOwner.user) ?? .run(runID) }
}

/// Who is behind the pictures of a run. A worker that a picture has taken over sees no other's.
package enum PictureOwner: Sendable, Equatable {
  /// The user whose file the manifest is.
  case user(Int)

  /// Nobody known but the run itself.
  case run(String)
}
