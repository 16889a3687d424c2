import Imaging
import Transfer

/// An error code of the contract. The codes of downloads and of pictures are defined in `Transfer` and `Imaging`.
package enum FailureCode: Sendable, Hashable {
  case download(TransferError.Code)
  case filter(ImagingError.Code)
  /// A file of this program could not be written or read.
  case io
  /// The final name is taken by a file that this job did not deliver.
  case nameConflict

  /// An entry that must succeed before this one failed.
  case dependencyFailed

  /// The stage at which an entry failed.
  package enum Stage: String, Sendable { case download, filter, outbox, plan }

  package var stage: Stage {
    switch self {
    case .download: .download
    case .filter: .filter
    case .io, .nameConflict: .outbox
    case .dependencyFailed: .plan
    }
  }

  /// The code as it appears in reports.
  package var text: String {
    switch self {
    case .download(let code): code.rawValue
    case .filter(let code): code.rawValue
    case .io: "io"
    case .nameConflict: "name-conflict"
    case .dependencyFailed: "dependency-failed"
    }
  }

  /// - Returns: nil for an unknown code.
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
