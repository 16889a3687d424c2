import Foundation
import Manifests
import System
import Transfer

/// Why the program must stop. The failure of an entry is never one of these, but a row of the report.
package enum StopError: Error, Sendable, CustomStringConvertible {
  /// Another instance owns a folder.
  case busy(folder: String, process: Int?)
  /// A named manifest, folder or job does not exist or cannot be read.
  case missing(String)
  /// The wanted name is taken until a job is done.
  case taken(String)
  /// The queues were suspended for longer than `--lock-wait`.
  /// - Parameter isKnown: Whether the last process already ended because of the same locks.
  case pausedTooLong(seconds: Double, causes: String, isKnown: Bool)
  /// Manifests were being written for longer than `--lock-wait`.
  case unsettled(files: [String], seconds: Double)
  /// Jobs could not begin for longer than `--lock-wait`: why, a line each.
  case held(jobs: [String], seconds: Double)
  /// The outbox cannot be written.
  case outbox(String)
  /// The machine has failed for so long that `run` gives up.
  case machine(reason: String, seconds: Double)
  /// The system allows the process too little to begin.
  case limit(String)
  /// An internal error.
  case broken(String)

  package var description: String {
    switch self {
    case .busy(let folder, let process?): "another instance owns \(folder): process \(process)"
    case .busy(let folder, nil): "another instance owns \(folder)"
    case .missing(let message), .taken(let message), .outbox(let message), .limit(let message),
      .broken(let message):
      message
    case .machine(let reason, let seconds):
      "tried again for \(seconds.formatted()) s; what is not done stays for the next start: \(reason)"
    case .unsettled(let files, let seconds):
      "still being written after \(seconds.formatted()) s, the limit of --lock-wait: \(files.joined(separator: ", "))"
    case .held(let jobs, let seconds):
      "cannot go on after \(seconds.formatted()) s, the limit of --lock-wait: \(jobs.joined(separator: "; "))"
    case .pausedTooLong(let seconds, let causes, _):
      "paused for \(seconds.formatted()) s, the limit of --lock-wait, by \(causes)"
    }
  }

  package var isMissing: Bool { if case .missing = self { true } else { false } }

  /// Whether another instance owns a folder.
  package var isBusy: Bool { if case .busy = self { true } else { false } }

  /// Whether another instance owns this folder.
  package func isBusy(_ path: String?) -> Bool { if case .busy(let folder, _) = self { folder == path } else { false } }

  /// The error for a named argument, without the userinfo of a URL, since the argument may have been meant as one.
  package static func missing(_ path: String, _ why: String) -> StopError {
    .missing("\(SourceLocation.redacted(path)): \(why)")
  }

  /// The error for a system error with a named argument.
  package static func missing(_ error: SystemError) -> StopError {
    if error.path.contains("://") { return .noManifest(error.path) }
    // Swift replaces bytes of an argument that are not UTF-8.
    let mayBeOther = error.code == ENOENT && error.path.unicodeScalars.contains("\u{fffd}")
    return .missing(error.redacted.description + (mayBeOther ? ", or its name is not UTF-8: rename it" : ""))
  }

  /// The error for an argument that is no manifest: a URL, a folder, or a file with another extension.
  package static func noManifest(_ path: String) -> StopError {
    if path.contains("://") {
      return .missing(
        path, #"it is a URL; for a picture, "darkroom add URL"; for a list, a .json manifest {"source": "URL"}"#)
    }
    if (try? OpenFile(folder: path)) != nil {
      let manifest = #"a .json manifest {"source": "file:FOLDER/**"}"#
      return .missing(path, "it is a folder; for its pictures, \(manifest), and the folder above it as --file-root")
    }
    var refusal = ManifestFormats.refusal(of: path) + SourceLocation.webAddressHint(for: path)
    do {
      if let kind = try OtherKind(of: ManifestFile(path: path, isCompressed: false)) {
        refusal = "it is \(kind.name), not a manifest; \(kind.remedy)"
      }
    } catch let error as SystemError {
      refusal = "\(systemMessage(error.code)), and \(refusal)"
    } catch {}
    return .missing(path, refusal)
  }
}

extension SystemError {
  /// The error without the userinfo of a URL that its path may be.
  package var redacted: SystemError {
    SystemError(operation, SourceLocation.redacted(path), isFolder: isFolder, code: code)
  }
}
