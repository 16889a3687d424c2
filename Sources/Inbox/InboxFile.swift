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
    if lowered.hasSuffix(".lock") || lowered == "lock" {
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
    [".", "~$", "readme"].contains(where: name.hasPrefix) || [".tmp", ".part", "~"].contains(where: name.hasSuffix)
      || name == "thumbs.db" || name == "desktop.ini"
  }
}

extension Configuration {
  /// Why inbox and outbox cannot be used together: they are the same folder, or one is inside the other; nil when they
  /// can. The outbox may be inside the inbox, where folders are ignored. Symbolic links in both paths are resolved.
  package var folderConflict: String? {
    // A folder that is mounted twice has two paths.
    let node = try? OpenFolder(inbox).status().identity
    let isSame = try? node?.isSameNode(as: OpenFolder(outbox).status().identity)
    if inbox == outbox || isSame == true {
      return "--inbox and --outbox name the same folder: \(inbox)"
    }
    if inbox.hasPrefix(outbox == "/" ? "/" : outbox + "/") {
      return "--inbox must not lie in --outbox, where jobs have their folders: \(inbox)"
    }
    let beneath = inbox == "/" ? "/" : inbox + "/"
    guard outbox.hasPrefix(beneath), let name = outbox.dropFirst(beneath.count).split(separator: "/").first,
      case .lock = InboxFile(named: FileName(String(name)))
    else { return nil }
    return "--outbox must not lie in \(beneath)\(name), which is a lock of --inbox"
  }
}
