import Inbox
import Manifests
import Model
import System
import Transfer

/// A manifest that was named as an argument.
struct NamedManifest: Sendable, Equatable {
  /// Where it lies: the file itself when it is a manifest of the inbox, whatever link led there.
  let path: String

  /// The file's name, from which its job has its own.
  let file: String
  let job: String
  let format: String
  let isInInbox: Bool

  /// Tells whether the file is still the one that was named.
  let identity: String

  /// What messages call it.
  var description: String { file == Folder.name(of: path) ? path : file }

  /// - Parameters:
  ///   - name: What a file is called that has no name of its own, such as standard input's.
  ///   - inbox: The inbox's path, symbolic links resolved.
  /// - Throws: `StopError.missing` when the file cannot be a manifest, or cannot be read; `SystemError` when the machine is to
  ///   blame.
  init(_ path: String, as name: String? = nil, inbox: String) throws {
    do {
      // What a link leads to in the inbox is a manifest there only if its name is one's.
      let inInbox = try Self.resolved(path).flatMap { file in
        Folder.parent(of: file) == inbox && ManifestFileName(Folder.name(of: file)) != nil ? file : nil
      }
      isInInbox = inInbox != nil
      self.path = inInbox ?? path
      file = name ?? Folder.name(of: self.path)
      guard let name = ManifestFileName(file) else { throw StopError.missing(path, ManifestFormats.refusal) }
      job = name.job
      format = name.format.name
      guard !job.isEmpty, job.utf8.count <= InboxFile.jobNameLimit else {
        throw StopError.missing(path, "the job's name must have 1 to \(InboxFile.jobNameLimit) bytes")
      }
      if InboxFile.isPage(job: job) { throw StopError.missing(path, "no job can be called \(job)") }
      let status = try OpenFile(reading: self.path, followingLinks: !isInInbox).status()
      guard status.kind == .file else { throw StopError.missing(path, "it is no file") }
      identity = status.identity.text
    } catch let error as SystemError {
      guard error.mayPassSoon else { throw StopError.missing(error) }
      throw error.redacted
    }
  }

  /// The path with symbolic links resolved; nil when it leads nowhere.
  private static func resolved(_ path: String) throws(SystemError) -> String? {
    do {
      return try Folder.resolved(path)
    } catch  where !error.mayPassSoon {
      return nil
    }
  }
}
