import Glibc
import Imaging
import Model
import Sandbox
import Synchronization
import System

/// The client of a worker process. A worker does one task at a time, all for the same owner.
final class DecodingClient: Sendable {
  /// The measures that confine the worker.
  let confinement: Confinement

  /// The number of the settings with which it was started.
  let generation: Int
  private let process: WorkerProcess
  private let limits: WorkerLimits

  /// The owner whose pictures it has read; nil before the first task.
  private let servedOwner = Mutex<PictureOwner?>(nil)

  /// The memory limit of the worker without grants, in bytes; 0 until it is read.
  private let usualMemory = Mutex<UInt64>(0)

  /// Seconds of processor time after which the kernel kills it.
  private let timeLimit: Mutex<Int>

  /// The interval in milliseconds at which cancellation and time limits of a task are checked.
  private static let interval = 100

  /// The first argument of the program when it is a worker.
  static let command = "decoding-worker"
  /// The last argument when large libraries are loaded.
  static let largeLibraries = "large-libraries"

  /// Starts a worker.
  /// - Throws: `SystemError`, also when the server's program is not a worker.
  init(of server: ForkServer, limits: WorkerLimits, maxPixels: Int, generation: Int) throws(SystemError) {
    process = try server.start(wait: Self.interval)
    guard case .ready(let confinement) = DecodingReply(process.greeting) else {
      throw SystemError(ForkServer.startOperation, "worker", code: EPROTO)
    }
    self.confinement = confinement
    self.generation = generation
    self.limits = limits
    timeLimit = Mutex(limits.process(maxPixels: maxPixels).processorTime)
  }

  /// Whether it waits for a task, and has neither ended nor sent an unexpected message.
  var isIdle: Bool { process.socket.isQuiet }

  /// The owner whose pictures it has read, and may read; nil before the first task.
  var owner: PictureOwner? { servedOwner.withLock { $0 } }

  /// Kills the worker.
  func end() { process.child.end() }

  /// Sends a task and waits for the reply.
  /// - Parameters:
  ///   - owner: The owner of the task.
  ///   - result: An empty file.
  ///   - memory: The budget for whole pictures.
  ///   - clock: The task's clock, which includes earlier tries.
  /// - Throws: `ImagingError` when the picture cannot be processed, or when the task was cancelled, for which the
  ///   worker is killed; `WorkerLoss`.
  func perform(
    _ task: DecodingTask, of owner: PictureOwner, from source: OpenFile, to result: OpenFile,
    memory: WholePictureMemory,
    clock: inout TaskClock, isCancelled: () -> Bool
  ) throws -> ImagePassResult {
    servedOwner.withLock { $0 = owner }
    clock.tryAgain(now: Clock.monotonicSeconds)
    let timeBefore = process.child.processorTime
    allowTime(beginning: timeBefore, task)
    guard process.socket.send(task.message, descriptors: [source.descriptor, result.descriptor]) else { throw lost() }
    var share = WholePictureMemory.Share?.none
    var (hasDemanded, refusal) = (false, ImagingError?.none)
    var finished: (pictures: ImagePassResult, previewBytes: Int)?
    defer { if share != nil { process.child.limitMemory(to: usualMemory.withLock { $0 }) } }
    while true {
      switch process.socket.receive(limit: finished.map { $0.previewBytes + 1 } ?? DecodingReply.maxBytes) {
      case .nothing:
        if isCancelled() {
          process.child.end()
          throw ImagingError.cancelled
        }
        let used = process.child.processorTime - timeBefore
        let loss = clock.check(now: Clock.monotonicSeconds, used: used) { process.child.waitsForDisk }
        if let loss { throw lost(loss) }
      case .closed: throw lost()
      case .message(let bytes):
        if var finished {
          guard bytes.count == finished.previewBytes else { throw lost(.garbage) }
          finished.pictures.preview = bytes
          return finished.pictures
        }
        switch DecodingReply(bytes) {
        case .demand(let demand) where !hasDemanded && demand.pixels <= task.maxPixels:
          hasDemanded = true
          clock.limit = max(clock.limit, limits.time(pixels: demand.pixels))
          guard demand.heldBytes > 0 else { continue }
          do throws(ImagingError) {
            share = try grant(demand, memory, isCancelled: isCancelled)
          } catch {
            if error.code == .cancelled { process.child.end() }
            guard error.code != .cancelled, process.socket.send([0]) else { throw error }
            refusal = error
          }
          clock.skip(to: Clock.monotonicSeconds)
        case .finished(let pictures, let previewBytes) where refusal == nil && task.allows(pictures):
          if previewBytes == 0 { return pictures }
          guard task.preview(of: pictures) != nil else { throw lost(.garbage) }
          finished = (pictures, previewBytes)
        case .failed(let error): throw refusal ?? error
        case .ready, .demand, .finished, nil: throw lost(.garbage)
        }
      }
    }
  }

  /// Grants memory to a worker.
  private func grant(
    _ demand: PassDemand, _ memory: WholePictureMemory, isCancelled: () -> Bool
  ) throws(ImagingError) -> WholePictureMemory.Share {
    let share = try memory.share(demand.heldBytes, for: "the picture", isCancelled: isCancelled)
    let usual = usualMemory.withLock { usual in
      if usual == 0 { usual = process.child.memoryLimit }
      return usual
    }
    let (most, overflow) = usual.addingReportingOverflow(UInt64(demand.heldBytes))
    process.child.limitMemory(to: overflow ? usual : most)
    _ = process.socket.send([1])
    return share
  }

  /// Raises the kernel's limit of processor time, which kills a worker that is no longer watched.
  private func allowTime(beginning: Double, _ task: DecodingTask) {
    let needed = Int(beginning + limits.time(pixels: task.maxPixels)) + 30
    let limit = timeLimit.withLock { limit -> Int? in
      guard needed > limit else { return nil }
      limit = needed * 2
      return limit
    }
    if let limit { process.child.limitProcessorTime(to: limit) }
  }

  /// Kills the worker, if it has not ended by itself.
  private func lost(_ loss: WorkerLoss? = nil) -> WorkerLoss {
    guard let loss else { return .ended(process.child.endingByItself()) }
    process.child.end()
    return loss
  }
}
