import Imaging
import Transfer

/// One of the contract's error codes. Those of downloads and of pictures are the modules' own: a new one is added there.
package enum FailureCode: Sendable, Hashable {
  case download(TransferError.Code)
  case filter(ImagingError.Code)
  /// A file of ours could not be written or read.
  case io
  /// The final name is taken by something that is not ours.
  case nameConflict

  /// An entry that this one comes after has not succeeded.
  case dependencyFailed

  /// Where on its way an entry failed.
  package enum Stage: String, Sendable { case download, filter, outbox, plan }

  package var stage: Stage {
    switch self {
    case .download: .download
    case .filter: .filter
    case .io, .nameConflict: .outbox
    case .dependencyFailed: .plan
    }
  }

  /// The code as reports show it.
  package var text: String {
    switch self {
    case .download(let code): code.rawValue
    case .filter(let code): code.rawValue
    case .io: "io"
    case .nameConflict: "name-conflict"
    case .dependencyFailed: "dependency-failed"
    }
  }

  /// - Returns: nil for a code that this version does not know.
  package init?(text: String) {
    if text == FailureCode.io.text {
      self = .io
    } else if text == FailureCode.nameConflict.text {
      self = .nameConflict
    } else if text == FailureCode.dependencyFailed.text {
      self = .dependencyFailed
    } else if let code = TransferError.Code(rawValue: text) {
      self = .download(code)
    } else if let code = ImagingError.Code(rawValue: text) {
      self = .filter(code)
    } else {
      return nil
    }
  }
}
