import Dispatch
import Glibc
import Imaging
import Model
import Sandbox
import Synchronization
import System

/// Decodes pictures: in workers, one for each slot of the filtration queue, which are reused for pictures of the same
/// owner; or in this process.
package final class DecodingPool: Sendable {
  /// An event of workers that is reported to users.
  package enum Notice: Sendable {
    /// A worker was lost during a task of an entry; nil when it had no task.
    case lost(job: String?, entry: String?, why: String)
    /// The kernel does not confine workers, or does so without the filter of system calls.
    case unconfined
  }

  package struct Counts: Sendable, Equatable {
    package var running = 0
    package var started = 0
    /// Workers that ended by themselves, or were killed for exceeding limits or sending invalid messages.
    package var lost = 0
    /// The measures that confine workers.
    package var confinement: Confinement = []
  }

  /// The settings for decoding.
  struct Settings: Sendable, Equatable {
    /// The program of workers; nil to decode in this process.
    var program: String?
    var slots: Int
    var maxPixels: Int
    var limits: WorkerLimits
    /// Whether workers load large libraries: from the first picture on that needs one.
    var loadsLargeLibraries = false
  }

  private struct State {
    var settings: Settings
    /// The number of changes to the settings of workers.
    var generation = 0
    /// Idle workers, the most recently used last.
    var idle: [DecodingClient] = []
    /// Workers that are being started ahead.
    var starting = 0
    /// Tasks that wait for workers that are being started.
    var waiting = 0
    var counts = Counts()
    var isClosed = false
  }

  /// The memory of whole pictures in all workers.
  let memory: WholePictureMemory
  private let state: Mutex<State>
  private let admission = TaskAdmission()
  private let kills: Mutex<KernelKills>
  private let killCount: @Sendable () -> Int?
  private let starter = WorkerStarter()
  private let workerStarted = DispatchSemaphore(value: 0)
  private let starts = DispatchQueue(label: "Starts of workers")
  private let ends = DispatchQueue(label: "Ends of workers")
  private let notify: @Sendable (Notice) -> Void

  /// - Parameters:
  ///   - killCount: The number of processes that the kernel has killed because memory ran out. Default: read from the
  ///     kernel.
  ///   - notify: Called on any thread.
  init(
    _ settings: Settings, killCount: @escaping @Sendable () -> Int? = { KernelKills.count() },
    notify: @escaping @Sendable (Notice) -> Void = { _ in }
  ) {
    memory = WholePictureMemory(limit: settings.limits.memory.shared)
    state = Mutex(State(settings: settings))
    kills = Mutex(KernelKills(at: Clock.monotonicSeconds, count: killCount()))
    (self.killCount, self.notify) = (killCount, notify)
  }

  package convenience init(_ configuration: Configuration, notify: @escaping @Sendable (Notice) -> Void = { _ in }) {
    let memory = MemoryBudget(available: MemoryBudget.available, workers: configuration.filtrations)
    self.init(Settings(configuration, WorkerLimits(memory: memory)), notify: notify)
  }

  /// Sets the configuration for tasks that begin from now on, and the available memory. Workers with other settings end
  /// when they are idle.
  /// - Parameter available: Available memory in bytes.
  func configure(_ configuration: Configuration, available: Int = MemoryBudget.available) {
    let budget = MemoryBudget(available: available, workers: configuration.filtrations)
    memory.setLimit(budget.shared)
    change { settings in
      var limits = settings.limits
      limits.memory = budget
      let loadsLargeLibraries = settings.loadsLargeLibraries
      settings = Settings(configuration, limits)
      settings.loadsLargeLibraries = loadsLargeLibraries
    }
  }

  /// Changes the settings. Ends idle workers that were started with others.
  private func change(_ settings: (inout Settings) -> Void) {
    let ended = state.withLock { state in
      let before = state.settings
      settings(&state.settings)
      guard !state.settings.startsSame(as: before) else { return [DecodingClient]() }
      state.generation += 1
      defer { state.idle = [] }
      state.counts.running -= state.idle.count
      return state.idle
    }
    end(ended)
  }

  package var counts: Counts { state.withLock { $0.counts } }

  package var hasWorkers: Bool { state.withLock { $0.settings.program != nil } }

  /// Starts a worker as for a picture.
  /// - Returns: The measures that confine it.
  package func examine() throws(SystemError) -> Confinement {
    let client = try start()
    defer { giveBack(client) }
    return client.confinement
  }

  /// Starts a worker on another thread, if there are fewer than slots and than will be needed soon.
  /// - Parameter needed: The number of tasks that may come soon.
  func prepare(for needed: Int) {
    let mustStart = state.withLock { state in
      let expected = state.counts.running + state.starting
      guard state.settings.program != nil, !state.isClosed, expected < min(needed, state.settings.slots) else {
        return false
      }
      state.starting += 1
      return true
    }
    guard mustStart else { return }
    starts.async { [weak self] in
      guard let self else { return }
      // On an error, the task that needs a worker tries again and reports it.
      if let client = try? start() { giveBack(client) }
      let isAwaited = state.withLock { state in
        state.starting -= 1
        guard state.waiting > 0 else { return false }
        state.waiting -= 1
        return true
      }
      if isAwaited { workerStarted.signal() }
    }
  }

  /// Ends all workers and starts no more.
  package func close() {
    state.withLock { $0.isClosed = true }
    endIdle()
    starter.renew()
    ends.sync {}
  }

  /// The subject of a task.
  struct Subject {
    var job: String?
    var entry: String?
    /// Workers are used for one owner only.
    var owner = PictureOwner.run("")
  }

  /// Performs a task. When a worker is lost, the task is tried again in a new one, depending on `WorkerLoss.next`.
  /// - Parameters:
  ///   - source: Open for reading only, or a file in memory that nobody can change.
  ///   - create: Creates the empty file for the result, again for each try. The file is closed when this returns.
  /// - Returns: The pictures, and the file if this process decoded, so that no other process can write to it.
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
    if task.options.format?.needsLargeLibrary == true || ImageFormat.needsLargeLibrary(source.descriptor) {
      change { $0.loadsLargeLibraries = true }
    }
    var (tries, isAlone) = (0, false)
    var clock = TaskClock(state.withLock { $0.settings.limits }, now: Clock.monotonicSeconds)
    while true {
      let began = Clock.monotonicSeconds
      do {
        try admission.enter(alone: isAlone, isCancelled: isCancelled)
        defer { admission.leave() }
        if isAlone { endIdle() }
        return (
          try attempt(task, source, subject, isFresh: tries > 0, clock: &clock, isCancelled, create), nil
        )
      } catch let loss as WorkerLoss {
        if isCancelled() { throw ImagingError.cancelled }
        tries += 1
        let next = loss.next(tries: tries, wasAlone: isAlone, lacksMemory: loss.isKill && lacksMemory(since: began))
        guard next != .fail else { throw loss.error(wasAlone: isAlone) }
        isAlone = next == .alone
      }
    }
  }

  /// Whether the kernel may have killed a process because memory ran out since then.
  private func lacksMemory(since began: Double) -> Bool {
    let (now, count) = (Clock.monotonicSeconds, killCount())
    return kills.withLock { $0.mayHaveHappened(since: began, until: now, count: count) }
  }

  private func attempt(
    _ task: DecodingTask, _ source: OpenFile, _ subject: Subject, isFresh: Bool, clock: inout TaskClock,
    _ isCancelled: () -> Bool, _ create: () throws -> OpenFile
  ) throws -> ImagePassResult {
    let result = try create()
    let client = try isFresh ? start() : take(for: subject.owner)
    do {
      let pictures = try client.perform(
        task, of: subject.owner, from: source, to: result, memory: memory, clock: &clock, isCancelled: isCancelled)
      giveBack(client)
      return pictures
    } catch let loss as WorkerLoss {
      lose(client, subject, why: loss.why)
      throw loss
    } catch {
      giveBack(client)
      throw error
    }
  }

  // MARK: Workers

  /// Takes an idle worker of the owner or one without an owner, or starts a new one.
  private func take(for owner: PictureOwner) throws(SystemError) -> DecodingClient {
    while true {
      let (client, mustWait) = state.withLock { state -> (DecodingClient?, Bool) in
        let index = state.idle.lastIndex { $0.owner == owner } ?? state.idle.lastIndex { $0.owner == nil }
        if let index { return (state.idle.remove(at: index), false) }
        guard state.starting > state.waiting else { return (nil, false) }
        state.waiting += 1
        return (nil, true)
      }
      if mustWait {
        workerStarted.wait()
        continue
      }
      guard let client else { return try start() }
      if client.isIdle { return client }
      lose(client, Subject(), why: "it ended, or said something, without a task")
    }
  }

  /// Starts a worker. If there is one for each slot, the one that has been idle longest ends.
  private func start() throws(SystemError) -> DecodingClient {
    let (settings, generation, ended) = state.withLock { state in
      let isFull = state.counts.running >= state.settings.slots && !state.idle.isEmpty
      if isFull { state.counts.running -= 1 }
      return (state.settings, state.generation, isFull ? [state.idle.removeFirst()] : [])
    }
    end(ended)
    guard let program = settings.program else { throw SystemError("start", "worker", code: EAGAIN) }
    let client = try starter.start(program, settings, generation: generation)
    let isFirst = state.withLock { state in
      state.counts.started += 1
      state.counts.running += 1
      state.counts.confinement = client.confinement
      return state.counts.started == 1
    }
    if isFirst, !client.confinement.contains(.systemCalls), !Confinement.isSanitized { notify(.unconfined) }
    return client
  }

  /// Keeps a worker for the next task, unless it has ended, has other settings, or there are too many.
  private func giveBack(_ client: DecodingClient) {
    let isKept =
      client.isIdle
      && state.withLock { state in
        guard !state.isClosed, state.settings.program != nil, client.generation == state.generation,
          state.counts.running <= state.settings.slots
        else { return false }
        state.idle.append(client)
        return true
      }
    guard !isKept else { return }
    state.withLock { $0.counts.running -= 1 }
    end([client])
  }

  private func lose(_ client: DecodingClient, _ subject: Subject, why: String) {
    client.end()
    starter.renew()
    state.withLock { state in
      state.counts.running -= 1
      state.counts.lost += 1
    }
    notify(.lost(job: subject.job, entry: subject.entry, why: why))
  }

  private func endIdle() {
    let idle = state.withLock { state in
      defer { state.idle = [] }
      state.counts.running -= state.idle.count
      return state.idle
    }
    end(idle)
  }

  /// Ends idle workers on another thread, since the kernel has to free their memory.
  private func end(_ clients: [DecodingClient]) {
    guard !clients.isEmpty else { return }
    ends.async { for client in clients { client.end() } }
  }
}

extension DecodingPool.Settings {
  init(_ configuration: Configuration, _ limits: WorkerLimits) {
    program = configuration.isolation == .process ? configuration.workerProgram : nil
    slots = configuration.filtrations
    maxPixels = configuration.maxPixels
    self.limits = limits
  }

  /// Whether workers are started with the same settings. `maxPixels` counts, since it limits the size of files that a
  /// worker may write.
  fileprivate func startsSame(as other: Self) -> Bool {
    var other = other
    other.slots = slots
    return self == other
  }
}
