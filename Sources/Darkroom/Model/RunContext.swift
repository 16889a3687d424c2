/// What all operations and deliveries of one run have in common.
struct RunContext: Sendable {
  /// The run's number in this process, from 1.
  let number: Int
  let runID: String

  /// Where the job's things lie in the outbox.
  private(set) var folder: JobFolder
  let staging: Staging

  /// When the job was accepted or, if it has replaced others, the first of these, in milliseconds since 1970, UTC. What was
  /// asked for since then is not asked for again.
  var accepted = Int.max

  /// The first of the runs that it has replaced one after the other: what is asked for once in each run is not asked for again.
  /// Default: nil, it has replaced none.
  var firstRunID: String?

  /// Whether files may have the names of results already, whoever put them there.
  var mayFindFiles = true

  /// Whether what earlier runs downloaded and made is ignored, whatever the process that continues the run is told.
  var isRefreshing = false

  /// Whose file the manifest was, a user's number; nil when that is not known.
  var user: Int?

  /// Whether its entries may name files of this machine. Those that a server has listed may not.
  var mayReadFiles = true

  /// The same run, whose documents go to its folder of `history`.
  var inHistory: RunContext {
    var run = self
    run.folder = JobFolder(
      path: folder.history + "/" + runID, name: folder.name, root: folder.root, outbox: folder.outbox)
    return run
  }

  /// Whether its documents go to `history`.
  var isInHistory: Bool { folder.path != folder.root + "/" + folder.name }

  var job: String { folder.name }

  var owner: PictureOwner { user.map(PictureOwner.user) ?? .run(runID) }
}

/// Who is behind the pictures of a run. A worker that a picture has taken over sees no other's.
enum PictureOwner: Sendable, Equatable {
  /// The user whose file the manifest is.
  case user(Int)

  /// Nobody known but the run itself.
  case run(String)
}
