import Foundation
import Imaging
import Ledger
import Scheduling
import Transfer

/// All settings with their defaults. Values are checked where they are read, and not again.
package struct Configuration: Sendable {
  /// The folder into which manifests and locks are dropped; it exists. Default: `inbox`.
  package var inbox: String

  /// The folder for results and reports; it exists. Default: `outbox`.
  package var outbox: String

  /// The folder for the ledger. Default: `OUTBOX/.darkroom`.
  package var state: String

  /// What a process that does one shard of a manifest shares with those that do others. Default: nil, it is none.
  package var shared: SharedFolders?

  /// Which of the three folders are missing and must be created. Default: none.
  package var newFolders: Set<String> = []

  /// Whether another outbox may be used under the path of the one that was used with the inbox before. Default: false.
  package var replacesOutbox = false

  /// One more lock file to honour. Default: none.
  package var lockFile: String?

  /// How long `run` stays paused before it gives up, in seconds. Default: for ever.
  package var lockWait: Double?

  /// How long closed hosts are waited for while no other host answers, in seconds. After that `run` leaves the rest to
  /// the next start, and `watch` gives the hosts up. Default: nil, which is 600 for `run` and a day for `watch`.
  package var outageWait: Double?

  /// How long `run` works before it leaves the rest to the next start, in seconds. Default: for ever.
  package var maxDuration: Double?

  /// How often the inbox is scanned, in seconds. Default: 1.
  package var pollInterval = 1.0

  /// How long a file must be unchanged before it is read, in seconds; on a network file system at least 10. Default: 2.
  package var settle = 2.0

  /// Jobs that are live at once; the others wait. Default: 16.
  package var jobs = usualJobs
  static let usualJobs = 16

  /// Downloads at once. Default: 16, and more as long as that increases the throughput.
  package var downloads = DownloadLimit.auto

  /// Filtrations at once. Default: the number of processors.
  package var filtrations: Int
  let usualFiltrations: Int

  /// The recipe of entries that name none. Default: `sepia(0.8)`.
  package var filters: Recipe

  /// Format and quality of entries that name none. Default: `keep`, 85.
  package var output = OutputOptions()

  /// The most pixels of a picture. Default: 268 402 689.
  package var maxPixels = 268_402_689

  /// The fewest pixels of a source. Default: nil, any number.
  package var minPixels: Int?

  /// When a download that failed is tried again. Default: 3 times.
  package var backoff = Backoff(retries: 3)

  /// The number of retries, set by the operator.
  package var givenRetries: Int {
    get { backoff.retries }
    set { backoff = Backoff(retries: newValue, isGiven: true) }
  }

  /// Which entries are deferred when their retries are used up, and until when. Default: none.
  package var deferral = Deferral()
  /// How long all tries of an entry may take together, the waits between them included and pauses not, in seconds.
  /// Default: for ever.
  package var entryTimeout: Double?

  /// Limits and rules for downloads. Default: those of `TransferConfiguration`, and `darkroom/VERSION` as user agent.
  package var transfer = TransferConfiguration()

  /// How long a download may stay below ten times `lowSpeed` before it gives its slot to others, in seconds. No option
  /// sets it. Default: 60.
  package var slowAfter = 60.0

  /// The rules for single hosts. Default: none.
  package var hosts = HostRules()

  /// Bytes of the download cache at most; 0 turns it off. Default: 1 GiB.
  package var cacheSize = 1 << 30

  /// Whether everything is requested again, whatever the cache holds. Default: false.
  package var refresh = false

  /// Whether the sources of results are delivered as well. Default: false.
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

  /// Whether a job without entries counts as failed for the exit code. Default: false.
  package var failEmpty = false

  /// The file with numbers for Prometheus. Default: none.
  package var metrics: String?

  /// The recipes that manifests and options use by their names. Default: none.
  package var recipes = NamedRecipes()

  /// To what the head of each report is posted when its run has ended. Default: nothing.
  package var notify: Webhook?

  /// The path of the program that is run when a run has ended. Default: none.
  package var exec: String?

  /// How long that program may take, in seconds. No option sets it. Default: 60.
  package var execLimit = 60.0

  /// What is done when a run has ended.
  package var notices: Set<LedgerNotice.Kind> {
    Set((notify == nil ? [] : [.notify]) + (exec == nil ? [] : [.exec]))
  }

  /// The free bytes of the outbox's file system below which both queues are suspended. Default: 256 MiB.
  package var minFree = 256 << 20

  /// How long the queues stay suspended while memory is scarce, in seconds. After that one operation at a time runs. No
  /// option sets it. Default: 60.
  package var memoryPauseTime = 60.0

  /// The folder that contains the kernel's `/proc` and `/sys`, which are read to detect scarce memory. No option sets
  /// it. Default: the root.
  package var kernelRoot = ""

  /// Where pictures are decoded. Default: in worker processes.
  package var isolation = Isolation.process

  /// The program that is started as a worker. Default: nil, this process decodes, whatever `isolation` is.
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
    (filtrations, usualFiltrations) = (processors, processors)
    transfer.userAgent = "darkroom/" + Tool.version
  }
}

/// The folders of the processes that do the shards of a manifest. Each process has an inbox and an outbox of its own beside, for
/// its requests and records.
package struct SharedFolders: Sendable, Equatable {
  /// The inbox whose locks hold for all; it exists.
  package let inbox: String

  /// The outbox for the pictures of all, in the file system of the process's own outbox; it exists.
  package let outbox: String

  package init(inbox: String, outbox: String) { (self.inbox, self.outbox) = (inbox, outbox) }
}

/// Whether the pages of the gallery are written.
package enum Gallery: String, CaseIterable, Sendable {
  case on, off
}

/// Where pictures are decoded.
package enum Isolation: String, CaseIterable, Sendable {
  /// In worker processes, which the kernel confines.
  case process
  /// In this process. A picture that exploits a decoder then controls the whole program.
  case none
}
