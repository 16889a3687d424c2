import Foundation
import Imaging
import System
import TestSupport
import Transfer

@testable import Ledger
@testable import Model
@testable import Operations

/// The two queues with a real engine that reads the sample pictures as files, and loopback servers.
final class Chains {
  let pending: PendingOperations
  let engine: TransferEngine
  let staging: Staging
  let folder: TemporaryFolder
  private var configuration: Configuration
  private let mailbox: Mailbox<PhotoRecord>
  private let downloaded: Mailbox<PhotoRecord>
  private let answered: Mailbox<PhotoRecord>
  private let checked: Mailbox<Void>

  /// A source that is there: a picture of 64 KB.
  static let source = "chelsea-small.png"

  /// - Parameters:
  ///   - fileRoot: Where the sources are.
  ///   - pool: What decodes. Default: this process.
  ///   - memory: The most bytes of downloads in memory; 0 to have all in files.
  ///   - whenDownloaded: Called where downloads end, before anything else.
  init(
    downloads: Int = 4, filtrations: Int = 2, fileRoot: String = packageRoot + "/Samples", pool: DecodingPool? = nil,
    perHost: HostLimit = .auto, writesGallery: Bool = true, memory: Int = 16 << 20,
    whenDownloaded: @escaping @Sendable () -> Void = {}
  ) throws {
    folder = try TemporaryFolder()
    let (mailbox, downloaded) = (try Mailbox<PhotoRecord>(), try Mailbox<PhotoRecord>())
    let (answered, checked) = (try Mailbox<PhotoRecord>(), try Mailbox<Void>())
    var configuration = Configuration(
      inbox: folder.path, outbox: folder.path, filters: try Recipe(parsing: "none"), processors: filtrations)
    configuration.downloads = .fixed(downloads)
    configuration.gallery = writesGallery ? .on : .off
    if pool != nil { configuration.workerProgram = Workers.program }
    configuration.transfer.fileRoot = fileRoot
    configuration.transfer.perHost = perHost
    configuration.transfer.addressPolicy = AddressPolicy(allowing: [try Network(parsing: "127.0.0.0/8")])
    self.configuration = configuration
    engine = TransferEngine(configuration: configuration.transfer)
    pending = PendingOperations(
      configuration: configuration, engine: engine, decoding: pool.map { DecodingAccess(pool: $0) },
      bodies: BodyMemory(limit: memory)
    ) { event in
      switch event {
      case .downloadBegan: break
      case .hostAnswered(let record): answered.post(record)
      case .downloadEnded(let record):
        whenDownloaded()
        downloaded.post(record)
      case .operationsEnded(let record): mailbox.post(record)
      case .filesChecked: checked.post(())
      }
    }
    staging = Staging(folder: folder.path, runID: "run-0001")
    self.mailbox = mailbox
    self.downloaded = downloaded
    (self.answered, self.checked) = (answered, checked)
  }

  deinit { engine.shutdown() }

  /// Changes the configuration for entries that start from now on.
  func configure(_ change: (inout Configuration) -> Void) {
    change(&configuration)
    pending.configure(configuration, engine: engine)
  }

  @discardableResult
  func start(
    _ position: Int, url: String = source, recipe: String = "none", priority: Entry.Priority = .normal,
    reportsAnswer: Bool = false, run number: Int = 1, inherited: PhotoRecord.Source? = nil, timeLeft: Duration? = nil
  ) throws -> PhotoRecord {
    let entry = try Entry.sample(position, url: url, recipe: recipe, priority: priority)
    return start(entry, run: number, inherited: inherited, timeLeft: timeLeft, reportsAnswer: reportsAnswer)
  }

  /// - Parameter earlier: What earlier runs delivered for the entry. Default: nothing.
  func start(
    _ entry: Entry, run number: Int = 1, inherited: PhotoRecord.Source? = nil, earlier: [LedgerOutput] = [],
    timeLeft: Duration? = nil, reportsAnswer: Bool = false
  ) -> PhotoRecord {
    let run = RunContext(number: number, runID: staging.runID, folder: job, staging: staging)
    var settings = HostSettings()
    settings.timeLeft = timeLeft
    let record = PhotoRecord(entry, run: run, settings: settings, inherited: inherited)
    pending.start(record, earlier: EarlierResults(folder: job, outputs: earlier), reportsAnswer: reportsAnswer)
    pending.addToQueues()
    return record
  }

  var job: JobFolder { JobFolder(path: folder.file("job"), name: "job") }

  /// Checks the file of the one entry that was started.
  /// - Returns: Its record, which is taken out of what is in progress, if the file is unchanged.
  func unchanged() -> PhotoRecord? {
    pending.checkFiles()
    checked.wait(alongside: -1, seconds: nil)
    _ = checked.collect()
    let record = pending.takeUnchanged().first
    if let record { pending.remove(record) }
    return record
  }

  /// Whether files were checked since the last call.
  func hasChecked() -> Bool { !checked.collect().isEmpty }

  /// The operations of an entry in progress.
  func operations(of position: Int) -> PendingOperations.Operations? {
    pending.inProgress[PhotoRecord.ID(run: 1, position: position)]?.operations
  }

  /// Whether an entry of a priority may start.
  func hasRoom(for priority: Entry.Priority = .normal) -> Bool {
    (pending.lowestPriorityWithRoom(besides: 0) ?? -1) >= priority.rank
  }

  /// Waits until as many downloads have ended.
  func waitForDownloads(_ count: Int) {
    var ended = 0
    while ended < count {
      downloaded.wait(alongside: -1, seconds: nil)
      ended += downloaded.collect().count
    }
  }

  /// Waits until the filtrations of all entries in progress may start. A download says that it has ended a moment before it
  /// is finished.
  /// - Parameter follower: The entry whose filtration comes after another. Default: nil, none.
  func waitForReadyFiltrations(besides follower: Int? = nil) {
    let chains = pending.inProgress.filter { $0.key.position != follower }.values.compactMap(\.operations)
    let deadline = ContinuousClock.now + .seconds(60)
    while !chains.allSatisfy(\.filtration.isReady), ContinuousClock.now < deadline { usleep(1000) }
  }

  /// Waits until as many filtrations run.
  /// - Returns: The positions of their entries, in order.
  func runningFiltrations(_ count: Int) -> [Int] {
    func running() -> [Int] {
      pending.inProgress.values.filter { $0.operations?.filtration.isExecuting == true }.map(\.record.entry.position)
        .sorted()
    }
    let deadline = ContinuousClock.now + .seconds(60)
    while running().count < count, ContinuousClock.now < deadline { usleep(1000) }
    return running()
  }

  /// Cancels filtrations that do not end by themselves and run one at a time. The order in which filtrations have ended says
  /// little: that is told on threads of their own.
  /// - Returns: The positions of their entries, in the order in which they began.
  func cancelOneByOne(_ count: Int) -> [Int] {
    (0..<count).compactMap { _ in
      guard let running = runningFiltrations(1).first else { return nil }
      pending.cancel(run: 1) { $0 == running }
      return ended(1).first?.entry.position
    }
  }

  /// Waits until hosts have begun to answer.
  func answers() -> [PhotoRecord] {
    answered.wait(alongside: -1, seconds: nil)
    return answered.collect()
  }

  /// Waits until as many chains have ended, and takes them out of what is in progress.
  func ended(_ count: Int) -> [PhotoRecord] {
    var records: [PhotoRecord] = []
    while records.count < count {
      mailbox.wait(alongside: -1, seconds: nil)
      records += mailbox.collect()
    }
    for record in records { pending.remove(record) }
    return records
  }

  /// What has ended beyond what was waited for.
  func more() -> [PhotoRecord] { mailbox.collect() }

  /// Fetches a URL by the engine itself, past the queues, and waits for it.
  func fetch(_ url: String = source) throws {
    let done = DispatchSemaphore(value: 0)
    let file = try staging.create("fetched")
    engine.start(TransferRequest(location: try SourceLocation(parsing: url), destination: BodyStore(file))) { _ in
      done.signal()
    }
    done.wait()
    staging.remove("fetched")
  }

  var staged: [String] { get throws { try folder.names() } }

  /// A server that holds every answer back until `/go` is asked for. It says a line for each request that came.
  static func gate() throws -> PythonServer {
    try PythonServer(
      PythonServer.prelude + """
        gate = threading.Event()
        body = open(sys.argv[1], "rb").read()

        def answer(connection, path):
            if path == "/go":
                gate.set()
            else:
                say("came")
                gate.wait()
            head = b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body)
            connection.sendall(head + body)

        serve()
        """, [packageRoot + "/Samples/" + source])
  }
}
