import Dispatch
import Glibc
import Imaging
import Sandbox
import Synchronization
import System

/// What decodes pictures: workers, one for each place of the filtration queue, which are kept and used again; or this
/// process.
package final class DecodingPool: Sendable {
  /// Something about workers that people want to know.
  enum Notice: Sendable {
    /// A worker was lost while it had this to do, or nothing.
    case lost(job: String?, entry: String?, why: String)
    /// The kernel does not confine workers, or not by the filter of system calls.
    case unconfined
  }

  /// What is counted.
  package struct Counts: Sendable, Equatable {
    /// Workers that there are.
    package var running = 0
    /// Workers that were started.
    package var started = 0
    /// Workers that ended by themselves or were killed because of what they did.
    package var lost = 0
    /// What holds them.
    package var confinement: Confinement = []
  }

  /// How pictures are decoded.
  struct Settings: Sendable {
    /// The program of workers; nil when this process decodes.
    var program: String?
    var places: Int
    var maxPixels: Int
    var limits: WorkerLimits
  }

  private struct State {
    var settings: Settings
    var idle: [DecodingClient] = []
    /// Workers that are being started ahead.
    var starting = 0
    /// Tasks that wait for one of these.
    var waiting = 0
    var counts = Counts()
    var isClosed = false
  }

  /// What is held of whole pictures, in all workers.
  let memory: WholePictureMemory
  private let state: Mutex<State>
  private let started = DispatchSemaphore(value: 0)
  private let starts = DispatchQueue(label: "Starts of workers")
  private let notify: @Sendable (Notice) -> Void

  /// - Parameter notify: Called on any thread.
  init(_ settings: Settings, notify: @escaping @Sendable (Notice) -> Void = { _ in }) {
    memory = WholePictureMemory(limit: settings.limits.memory.shared)
    state = Mutex(State(settings: settings))
    self.notify = notify
  }

  convenience init(_ configuration: Configuration, notify: @escaping @Sendable (Notice) -> Void = { _ in }) {
    let memory = MemoryBudget(available: MemoryBudget.available, workers: configuration.filtrations)
    self.init(Settings(configuration, WorkerLimits(memory: memory)), notify: notify)
  }

  /// Has tasks that begin from now on use another configuration. Workers that are too many end when they are idle.
  func configure(_ configuration: Configuration) {
    let ended = state.withLock { state in
      let before = state.settings
      state.settings = Settings(configuration, before.limits)
      // The size of the files that a worker may write is that of the largest picture when it began.
      guard (state.settings.program, state.settings.maxPixels) != (before.program, before.maxPixels) else {
        return [DecodingClient]()
      }
      defer { state.idle = [] }
      state.counts.running -= state.idle.count
      return state.idle
    }
    for client in ended { client.end() }
  }

  var counts: Counts { state.withLock { $0.counts } }

  /// Whether workers decode.
  var hasWorkers: Bool { state.withLock { $0.settings.program != nil } }

  /// Starts a worker on another thread, if there are fewer than places and than are about to be needed.
  /// - Parameter needed: How many tasks may come soon.
  func prepare(for needed: Int) {
    let mustStart = state.withLock { state in
      let expected = state.counts.running + state.starting
      guard state.settings.program != nil, !state.isClosed, expected < min(needed, state.settings.places) else {
        return false
      }
      state.starting += 1
      return true
    }
    guard mustStart else { return }
    starts.async { [weak self] in
      guard let self else { return }
      // Who needs one finds out why there is none.
      let client = try? start()
      if let client { giveBack(client) }
      let isAwaited = state.withLock { state in
        state.starting -= 1
        guard state.waiting > 0 else { return false }
        state.waiting -= 1
        return true
      }
      if isAwaited { started.signal() }
    }
  }

  /// Ends all workers, and lets none begin.
  func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      defer { state.idle = [] }
      return state.idle
    }
    for client in idle { client.end() }
  }

  /// What the task is for, in notices.
  struct Subject {
    var job: String?
    var entry: String?
  }

  /// Has a task done, a second time in a fresh worker when the first is lost.
  /// - Parameters:
  ///   - source: Open for reading only.
  ///   - create: Creates the empty file for the result, again for the second time; it is closed when this returns.
  /// - Returns: The pictures, and the file when it is this process's own: nobody else can write to it.
  /// - Throws: `ImagingError`, `SystemError`.
  func perform(
    _ task: DecodingTask, from source: OpenFile, subject: Subject = Subject(), isCancelled: () -> Bool = { false },
    create: () throws -> OpenFile
  ) throws -> (pictures: ImagePassResult, file: OpenFile?) {
    guard hasWorkers else {
      let file = try create()
      var share: WholePictureMemory.Share?
      defer { withExtendedLifetime(share) {} }
      let pictures = try task.perform(
        from: source.descriptor, to: file.descriptor, memory: memory, isCancelled: isCancelled
      ) { demand throws(ImagingError) in
        share = try memory.share(demand.heldBytes, for: "the picture", isCancelled: isCancelled)
      }
      return (pictures, file)
    }
    guard task.message.count <= MessageSocket.maxBytes else {
      throw ImagingError(code: .filterFailed, message: "the recipe is longer than \(MessageSocket.maxBytes) bytes")
    }
    do {
      return (try attempt(task, source, subject, isFresh: false, isCancelled, create), nil)
    } catch is WorkerLoss {
      if isCancelled() { throw ImagingError.cancelled }
    }
    do {
      return (try attempt(task, source, subject, isFresh: true, isCancelled, create), nil)
    } catch let loss as WorkerLoss {
      throw loss.error
    }
  }

  private func attempt(
    _ task: DecodingTask, _ source: OpenFile, _ subject: Subject, isFresh: Bool, _ isCancelled: () -> Bool,
    _ create: () throws -> OpenFile
  ) throws -> ImagePassResult {
    let result = try create()
    let client = try isFresh ? start() : take()
    do {
      let pictures = try client.perform(
        task, from: source, to: result, memory: memory, isCancelled: isCancelled)
      giveBack(client)
      return pictures
    } catch let loss as WorkerLoss {
      lose(client, subject, why: loss.error.message)
      throw loss
    } catch {
      giveBack(client)
      throw error
    }
  }

  // MARK: Workers

  /// Takes an idle worker, or starts one.
  private func take() throws(SystemError) -> DecodingClient {
    while true {
      let (client, mustWait) = state.withLock { state -> (DecodingClient?, Bool) in
        if let client = state.idle.popLast() { return (client, false) }
        guard state.starting > state.waiting else { return (nil, false) }
        state.waiting += 1
        return (nil, true)
      }
      if mustWait {
        started.wait()
        continue
      }
      guard let client else { return try start() }
      if client.isIdle { return client }
      lose(client, Subject(), why: "it ended, or said something, without a task")
    }
  }

  private func start() throws(SystemError) -> DecodingClient {
    let settings = state.withLock { $0.settings }
    guard let program = settings.program else { throw SystemError("start", "worker", code: EAGAIN) }
    let client = try startOne(program, settings, triesLeft: 3)
    let isFirst = state.withLock { state in
      state.counts.started += 1
      state.counts.running += 1
      state.counts.confinement = client.confinement
      return state.counts.started == 1
    }
    if isFirst, !client.confinement.contains(.systemCalls), !Confinement.isSanitized { notify(.unconfined) }
    return client
  }

  /// Starts a worker, again when it ends before it has begun: that is no picture's fault.
  private func startOne(_ program: String, _ settings: Settings, triesLeft: Int) throws(SystemError) -> DecodingClient {
    do {
      return try DecodingClient(program, limits: settings.limits, maxPixels: settings.maxPixels)
    } catch {
      guard triesLeft > 1, error.operation == DecodingClient.startOperation else { throw error }
      return try startOne(program, settings, triesLeft: triesLeft - 1)
    }
  }

  /// Keeps a worker for the next task, unless it has ended or there are too many.
  private func giveBack(_ client: DecodingClient) {
    let isKept =
      client.isIdle
      && state.withLock { state in
        guard !state.isClosed, state.settings.program != nil, state.counts.running <= state.settings.places else {
          return false
        }
        state.idle.append(client)
        return true
      }
    guard !isKept else { return }
    client.end()
    state.withLock { $0.counts.running -= 1 }
  }

  private func lose(_ client: DecodingClient, _ subject: Subject, why: String) {
    client.end()
    state.withLock { state in
      state.counts.running -= 1
      state.counts.lost += 1
    }
    notify(.lost(job: subject.job, entry: subject.entry, why: why))
  }
}

extension DecodingPool.Settings {
  init(_ configuration: Configuration, _ limits: WorkerLimits) {
    program = configuration.isolation == .process ? configuration.workerProgram : nil
    places = configuration.filtrations
    maxPixels = configuration.maxPixels
    self.limits = limits
  }
}
