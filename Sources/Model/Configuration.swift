import Foundation
import Imaging
import Scheduling
import Transfer

/// Everything that can be set, with its default. Values are checked where they are read, and not again.
package struct Configuration: Sendable {
  /// The folder into which manifests and locks are dropped; it exists. Default: `inbox`.
  package var inbox: String

  /// The folder for results and reports; it exists. Default: `outbox`.
  package var outbox: String

  /// The folder for the ledger. Default: `OUTBOX/.darkroom`.
  package var state: String

  /// Those of the three folders that are missing and are to be created. Default: none.
  package var newFolders: Set<String> = []

  /// Whether an outbox may take the place of another that was used with the inbox under the same path. Default: false.
  package var replacesOutbox = false

  /// One more lock file to honour. Default: none.
  package var lockFile: String?

  /// How long `run` stays paused before it gives up, in seconds. Default: for ever.
  package var lockWait: Double?

  /// How long hosts that were closed are waited for while no other host answers, in seconds: then `run` leaves the rest to
  /// the next start, and `watch` gives them up. Default: nil, 600 for `run` and a day for `watch`.
  package var outageWait: Double?

  /// How long `run` works before it leaves the rest to the next start, in seconds. Default: for ever.
  package var maxDuration: Double?

  /// How often the inbox is scanned, in seconds. Default: 1.
  package var pollInterval = 1.0

  /// How long a file must be unchanged before it is read, in seconds; on a network file system at least 10. Default: 2.
  package var settle = 2.0

  /// Jobs that are live at once; the others wait. Default: 16.
  package var jobs = 16

  /// Downloads at once. Default: 16, and more while that makes them end faster.
  package var downloads = DownloadLimit.auto

  /// Filtrations at once. Default: the number of processors.
  package var filtrations: Int

  /// The recipe of entries that name none. Default: `sepia(0.8)`.
  package var filters: Recipe

  /// Format and quality of entries that name none. Default: `keep`, 85.
  package var output = OutputOptions()

  /// Pixels of a picture at most. Default: 268 402 689.
  package var maxPixels = 268_402_689

  /// Pixels of a source at least. Default: any number.
  package var minPixels: Int?

  /// When a download that failed is tried again. Default: 3 times.
  package var backoff = Backoff(retries: 3)

  /// The tries after the first that the operator has asked for.
  package var givenRetries: Int {
    get { backoff.retries }
    set { backoff = Backoff(retries: newValue, isGiven: true) }
  }

  /// Which entries are tried again after that, and until when. Default: none.
  package var deferral = Deferral()
  /// How long all tries of an entry may take together, the waits between them included and pauses not, in seconds.
  /// Default: for ever.
  package var entryTimeout: Double?

  /// Limits and rules for downloads. Default: those of `TransferConfiguration`, and `darkroom/VERSION` as user agent.
  package var transfer = TransferConfiguration()

  /// How long a download may stay below ten times `lowSpeed` before it leaves its place to others, in seconds. No option
  /// sets it. Default: 60.
  package var slowAfter = 60.0

  /// What is done otherwise at some hosts. Default: nothing.
  package var hosts = HostRules()

  /// Bytes of the download cache at most; 0 turns it off. Default: 1 GiB.
  package var cacheSize = 1 << 30

  /// Whether everything is asked for again, whatever the cache has. Default: false.
  package var refresh = false

  /// Whether the sources of results are delivered, too. Default: false.
  package var keepOriginals = false

  /// Whether a job that has succeeded removes the results of its earlier runs that its manifest no longer names. Default:
  /// false.
  package var prune = false

  /// How many earlier runs of each job are kept in `history`. Default: 10.
  package var keepHistory = 10

  /// Whether `index.html` is written for each job and for the outbox, and previews of large results for it. Default: on.
  package var gallery = Gallery.on

  /// Which failures of a job count as success for the exit code and for quiet logs. Default: none.
  package var acceptFailures: FailureAcceptance?

  /// Both queues are suspended while the outbox's file system has fewer free bytes. Default: 256 MiB.
  package var minFree = 256 << 20

  /// How long nothing goes on while memory is scarce; then one operation at a time does, in seconds. No option sets it.
  /// Default: 60.
  package var memoryPatience = 60.0

  /// The folder beneath which the kernel's `/proc` and `/sys` are looked at for scarce memory. No option sets it. Default:
  /// the root.
  package var kernelRoot = ""

  /// Where pictures are decoded. Default: in worker processes.
  package var isolation = Isolation.process

  /// The program that is started as a worker. Default: none, then pictures are decoded in this process, whatever
  /// `isolation` says.
  package var workerProgram: String?

  /// How long running operations may take after a signal to stop, in seconds. Default: 20.
  package var grace = 20.0

  package var defaultState: String { OutboxFolder(path: outbox).hidden }

  private static let defaultFilters: Recipe = {
    do {
      return try Recipe(parsing: "sepia(0.8)")
    } catch {
      preconditionFailure("the default recipe: \(error)")
    }
  }()

  /// Creates a configuration of defaults.
  /// - Parameter processors: The limit of filtrations at once.
  package init(
    inbox: String = "inbox", outbox: String = "outbox", filters: Recipe? = nil,
    processors: Int = ProcessInfo.processInfo.activeProcessorCount
  ) {
    self.inbox = inbox
    self.outbox = outbox
    self.filters = filters ?? Self.defaultFilters
    state = OutboxFolder(path: outbox).hidden
    filtrations = processors
    transfer.userAgent = "darkroom/" + Tool.version
  }
}

/// Whether the pages of the gallery are written.
package enum Gallery: String, CaseIterable, Sendable {
  case on, off
}

/// Where pictures are decoded.
package enum Isolation: String, CaseIterable, Sendable {
  /// In worker processes, which the kernel confines.
  case process
  /// In the program itself: whoever sends a picture that gets hold of a decoder has got hold of the program.
  case none
}
