import Imaging
import Sandbox

/// Why a worker that had a task cannot be used any more.
enum WorkerLoss: Error, Equatable {
  /// It has ended.
  case ended(WorkerProcess.Ending)
  /// It took more than so many seconds of processor time.
  case outOfTime(Double)
  /// It did not answer for so many seconds.
  case silent(Double)
  /// It said what no worker says.
  case garbage

  /// What that means for the picture.
  var error: ImagingError {
    switch self {
    case .ended(let ending) where ending.isOutOfMemory:
      ImagingError(code: .imageTooLarge, message: "the picture needs more memory than a decoder may have")
    case .ended(let ending): ImagingError(code: .decoderCrashed, message: "the decoder \(ending)")
    case .outOfTime(let seconds):
      ImagingError(code: .decoderCrashed, message: "the decoder took more than \(Int(seconds)) s of processor time")
    case .silent(let seconds):
      ImagingError(code: .decoderCrashed, message: "the decoder did not answer for \(Int(seconds)) s")
    case .garbage: ImagingError(code: .decoderCrashed, message: "the decoder said what no decoder says")
    }
  }
}
