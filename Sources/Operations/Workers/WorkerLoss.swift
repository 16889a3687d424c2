import Imaging
import Sandbox

/// Why a worker with a task was lost.
enum WorkerLoss: Error, Equatable {
  case ended(ChildProcess.Ending)
  /// It exceeded this number of seconds of processor time.
  case outOfTime(Double)
  /// It did not answer for this number of seconds. Final when that is the limit of the task.
  case silent(Double, isFinal: Bool)
  /// It sent an invalid message.
  case garbage

  /// How the task continues after the loss.
  enum Next: Equatable {
    /// It is tried again in a new worker.
    case again
    /// It is tried again while no other picture is decoded, because the worker was killed, possibly for want of memory that
    /// others used.
    case alone
    case fail
  }

  /// Decides how the task continues. A task that exceeded its time is not retried. One that was killed runs alone before it
  /// fails: at once if the kernel did that for want of memory, else after a second kill, which may be that of a program
  /// such as systemd-oomd.
  /// - Parameters:
  ///   - tries: The number of workers that were lost with the task.
  ///   - wasAlone: Whether the task ran alone in the last one.
  ///   - lacksMemory: Whether the kernel may have killed a process because memory ran out since the last try began.
  func next(tries: Int, wasAlone: Bool, lacksMemory: Bool) -> Next {
    switch self {
    case .ended(let ending) where ending.isKilled: wasAlone ? .fail : lacksMemory || tries >= 2 ? .alone : .again
    case .outOfTime, .silent(_, isFinal: true): .fail
    default: tries < 2 && !wasAlone ? .again : .fail
    }
  }

  /// Whether it was killed by a signal from the kernel or another process.
  var isKill: Bool {
    if case .ended(let ending) = self { return ending.isKilled }
    return false
  }

  /// The error of the picture.
  /// - Parameter wasAlone: Whether the task ran alone in the last worker.
  func error(wasAlone: Bool = false) -> ImagingError {
    switch self {
    case .ended(let ending) where ending.isOutOfMemory:
      ImagingError(
        code: .imageTooLarge,
        message: "the picture needs more memory than a decoder may have; a larger limit of the service may help")
    case .ended(let ending) where ending.isKilled && wasAlone:
      ImagingError(
        code: .imageTooLarge,
        message: "the decoder \(ending), the last time while nothing else was decoded: there is too little memory, or "
          + "another program kills it")
    case .ended(let ending): ImagingError(code: .decoderCrashed, message: "the decoder \(ending)")
    case .outOfTime(let seconds):
      ImagingError(code: .decoderCrashed, message: "the decoder took more than \(Int(seconds)) s of processor time")
    case .silent(let seconds, _):
      ImagingError(code: .decoderCrashed, message: "the decoder did not answer for \(Int(seconds)) s")
    case .garbage: ImagingError(code: .decoderCrashed, message: "the decoder sent an invalid message")
    }
  }

  /// The reason in notices about the worker.
  var why: String {
    if case .ended(let ending) = self { return "the decoder \(ending)" }
    return error().message
  }
}
