import Manifests
import Model
import System

/// The meaning of a name in the inbox.
package enum InboxFile: Sendable, Equatable {
  /// A file or folder that suspends the queues.
  case lock
  /// A possible manifest.
  case manifest(job: String)
  /// Skipped without a report.
  case skipped
  /// Any other name. It is reported once and then ignored.
  case ignored(why: String)

  /// The longest name of a job, in bytes. Longer names leave no room in 255 bytes for names such as `JOB.failed.jsonl`.
  package static let jobNameLimit = 200

  /// Whether a job's folder would have the name of the outbox's page, on file systems that ignore case too.
  package static func isPage(job name: String) -> Bool { name.lowercased() == "index.html" }

  /// Classifies a file by its name only.
  package init(named name: FileName) {
    let lowered = String(decoding: name.bytes, as: UTF8.self).lowercased()
    if lowered.ends(with: ".lock") || lowered == "lock" {
      self = .lock
    } else if Self.isSkipped(lowered) {
      self = .skipped
    } else if let text = name.text {
      if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
        self = .ignored(why: "its name holds control characters")
      } else if let manifest = ManifestFileName(text) {
        if manifest.stem.utf8.count > Self.jobNameLimit {
          self = .ignored(why: "the job's name would be longer than \(Self.jobNameLimit) bytes")
        } else {
          self =
            Self.isPage(job: manifest.job)
            ? .ignored(why: "no job can be called \(manifest.job)") : .manifest(job: manifest.job)
        }
      } else {
        self = .ignored(why: ManifestFormats.refusal(of: text))
      }
    } else {
      self = .ignored(why: "its name is not UTF-8")
    }
  }

  /// Whether it is a file that is being written, or a temporary file of an editor, office program or file manager.
  /// - Parameter name: In lower case.
  private static func isSkipped(_ name: String) -> Bool {
    [".", "~$", "readme"].contains { name.begins(with: $0) } || [".tmp", ".part", "~"].contains { name.ends(with: $0) }
      || name == "thumbs.db" || name == "desktop.ini"
  }
}
