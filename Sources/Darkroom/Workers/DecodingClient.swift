import Glibc
import Imaging
import Sandbox
import Synchronization
import System

/// A worker as this process sees it. It does one task at a time.
final class DecodingClient: Sendable {
  /// What holds it.
  let confinement: Confinement
  private let process: WorkerProcess
  private let limits: WorkerLimits

  /// The memory that it may have when nothing is granted, in bytes; 0 until that is asked for.
  private let usualMemory = Mutex<UInt64>(0)

  /// Seconds of processor time after which the kernel ends it.
  private let timeLimit: Mutex<Int>

  /// How often it is looked whether a task was cancelled or takes too long, in milliseconds.
  private static let interval = 100

  /// How long a worker may take to begin, in seconds.
  private static let patience = 60.0

  /// The first argument of the program when it is a worker.
  static let command = "decoding-worker"

  /// What errors call it when a worker does not begin.
  static let startOperation = "start"

  /// Starts a worker.
  /// - Throws: `SystemError`, also when the program is none.
  init(_ program: String, limits: WorkerLimits, maxPixels: Int) throws(SystemError) {
    let held = limits.process(maxPixels: maxPixels)
    process = try WorkerProcess(program, [Self.command] + held.arguments, wait: Self.interval)
    timeLimit = Mutex(held.processorTime)
    self.limits = limits
    let began = Clock.monotonicSeconds
    while true {
      switch process.socket.receive(limit: DecodingReply.maxBytes) {
      case .message(let bytes):
        guard case .ready(let confinement) = DecodingReply(bytes) else {
          throw SystemError(Self.startOperation, program, code: EPROTO)
        }
        self.confinement = confinement
        return
      case .nothing where Clock.monotonicSeconds - began < Self.patience: continue
      case .nothing, .closed: throw SystemError(Self.startOperation, program, code: EAGAIN)
      }
    }
  }

  /// Whether it waits for a task, and has not ended or said anything unasked.
  var isIdle: Bool { process.socket.isQuiet }

  /// Kills it.
  func end() { process.end() }

  /// Has it do a task.
  /// - Parameters:
  ///   - result: An empty file.
  ///   - memory: What is held of whole pictures is taken from it.
  /// - Throws: `ImagingError` when the picture is at fault, or the task was cancelled: then the worker is killed;
  ///   `WorkerLoss`.
  func perform(
    _ task: DecodingTask, from source: OpenFile, to result: OpenFile, memory: WholePictureMemory,
    isCancelled: () -> Bool
  ) throws -> ImagePassResult {
    let began = Clock.monotonicSeconds
    let timeBefore = process.processorTime
    allowTime(beginning: timeBefore, task)
    guard process.socket.send(task.message, descriptors: [source.descriptor, result.descriptor]) else { throw lost() }
    var (time, waited, share) = (limits.time(pixels: 0), 0.0, WholePictureMemory.Share?.none)
    var (hasDemanded, refusal) = (false, ImagingError?.none)
    defer { if share != nil { process.limitMemory(to: usualMemory.withLock { $0 }) } }
    while true {
      switch process.socket.receive(limit: DecodingReply.maxBytes) {
      case .nothing:
        if isCancelled() {
          process.end()
          throw ImagingError.cancelled
        }
        if process.processorTime - timeBefore > time { throw lost(.outOfTime(time)) }
        if Clock.monotonicSeconds - began - waited > time * limits.wallFactor {
          throw lost(.silent(time * limits.wallFactor))
        }
      case .closed: throw lost()
      case .message(let bytes):
        switch DecodingReply(bytes) {
        case .demand(let demand) where !hasDemanded && demand.pixels <= task.maxPixels:
          hasDemanded = true
          time = limits.time(pixels: demand.pixels)
          guard demand.heldBytes > 0 else { continue }
          let asked = Clock.monotonicSeconds
          do throws(ImagingError) {
            share = try grant(demand, memory, isCancelled: isCancelled)
          } catch {
            if error.code == .cancelled { process.end() }
            guard error.code != .cancelled, process.socket.send([0]) else { throw error }
            refusal = error
          }
          waited = Clock.monotonicSeconds - asked
        case .finished(let pictures) where refusal == nil && task.allows(pictures): return pictures
        case .failed(let error): throw refusal ?? error
        case .ready, .demand, .finished, nil: throw lost(.garbage)
        }
      }
    }
  }

  /// Gives a worker leave to take memory.
  private func grant(
    _ demand: PassDemand, _ memory: WholePictureMemory, isCancelled: () -> Bool
  ) throws(ImagingError) -> WholePictureMemory.Share {
    let share = try memory.share(demand.heldBytes, for: "the picture", isCancelled: isCancelled)
    let usual = usualMemory.withLock { usual in
      if usual == 0 { usual = process.memoryLimit }
      return usual
    }
    let (most, overflow) = usual.addingReportingOverflow(UInt64(demand.heldBytes))
    process.limitMemory(to: overflow ? usual : most)
    _ = process.socket.send([1])
    return share
  }

  /// Raises the kernel's limit, which ends a worker that nobody watches any more, in time.
  private func allowTime(beginning: Double, _ task: DecodingTask) {
    let needed = Int(beginning + limits.time(pixels: task.maxPixels)) + 30
    let limit = timeLimit.withLock { limit -> Int? in
      guard needed > limit else { return nil }
      limit = needed * 2
      return limit
    }
    if let limit { process.limitProcessorTime(to: limit) }
  }

  /// Ends the worker, if it has not ended by itself.
  private func lost(_ loss: WorkerLoss? = nil) -> WorkerLoss {
    guard let loss else { return .ended(process.endingByItself()) }
    process.end()
    return loss
  }
}
