import Imaging
import Sandbox

/// Why a worker that had a task cannot be used any more.
enum WorkerLoss: Error, Equatable {
  case ended(ChildProcess.Ending)
  /// It took more than so many seconds of processor time.
  case outOfTime(Double)
  /// It did not answer for so many seconds. Final: that is all the time that the task may take.
  case silent(Double, isFinal: Bool)
  /// It said what no worker says.
  case garbage

  /// What is done about the task then.
  enum Next: Equatable {
    /// It is tried again in a fresh worker.
    case again
    /// It is tried again while no other picture is decoded: the kernel has killed the worker, because there is too little
    /// memory, which may be others' doing.
    case alone
    case fail
  }

  /// Decides on a task. What has used up the time that there is has it no second time, and only want of memory keeps others
  /// from their work.
  /// - Parameters:
  ///   - tries: How many workers were lost over it.
  ///   - wasAlone: Whether the last had all the memory.
  ///   - lacksMemory: Whether the kernel may have killed something for want of memory since the last began.
  func next(tries: Int, wasAlone: Bool, lacksMemory: Bool) -> Next {
    switch self {
    case .ended(let ending) where ending.isKilled && lacksMemory: wasAlone ? .fail : .alone
    case .outOfTime, .silent(_, isFinal: true): .fail
    default: tries < 2 && !wasAlone ? .again : .fail
    }
  }

  /// Whether somebody or the kernel killed it.
  var isKill: Bool {
    if case .ended(let ending) = self { return ending.isKilled }
    return false
  }

  /// What that means for the picture.
  /// - Parameter wasAlone: As of `next`.
  func error(wasAlone: Bool = false) -> ImagingError {
    switch self {
    case .ended(let ending) where ending.isOutOfMemory:
      ImagingError(code: .imageTooLarge, message: "the picture needs more memory than a decoder may have")
    case .ended(let ending) where ending.isKilled && wasAlone:
      ImagingError(
        code: .imageTooLarge,
        message: "the decoder \(ending), the last time while nothing else was decoded: there is too little memory")
    case .ended(let ending): ImagingError(code: .decoderCrashed, message: "the decoder \(ending)")
    case .outOfTime(let seconds):
      ImagingError(code: .decoderCrashed, message: "the decoder took more than \(Int(seconds)) s of processor time")
    case .silent(let seconds, _):
      ImagingError(code: .decoderCrashed, message: "the decoder did not answer for \(Int(seconds)) s")
    case .garbage: ImagingError(code: .decoderCrashed, message: "the decoder said what no decoder says")
    }
  }

  /// What it means for the worker, in notices.
  var why: String {
    if case .ended(let ending) = self { return "the decoder \(ending)" }
    return error().message
  }
}
