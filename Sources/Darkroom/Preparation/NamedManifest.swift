import Glibc
import Inbox
import Manifests
import Model
import System

/// A manifest that was named as an argument.
struct NamedManifest: Sendable, Equatable {
  /// The path: for a manifest of the inbox the file itself, if the argument was a symbolic link to it.
  let path: String

  /// The file's name, from which the job's name is derived.
  let file: String
  let job: String
  let format: String
  let isInInbox: Bool

  /// The file's identity.
  let identity: String

  /// The keys for requests to cancel it: `sharedCancelKeys`, and if it is in the inbox that of a manifest there.
  let cancelKeys: [String]

  /// The keys for requests to cancel it by its job, and with all others that were named.
  var sharedCancelKeys: ArraySlice<String> { cancelKeys.prefix(2) }

  private static let processStart = ProcessStart.of(Int(getpid())) ?? ""

  /// The name in messages.
  var description: String { file == Folder.name(of: path) ? path : file }

  /// - Parameters:
  ///   - name: The name of a file that has none, such as that of standard input.
  ///   - inbox: The inbox's path, with symbolic links resolved.
  /// - Throws: `StopError.missing` when the file is unreadable or not a manifest; `SystemError` when the machine fails.
  init(_ path: String, as name: String? = nil, inbox: String) throws {
    do {
      // The target of a link is a manifest of the inbox only if its own name is that of a manifest.
      let inInbox = try Self.resolved(path).flatMap { file in
        Folder.parent(of: file).isIdentical(to: inbox) && ManifestFileName(Folder.name(of: file)) != nil ? file : nil
      }
      isInInbox = inInbox != nil
      self.path = inInbox ?? path
      file = name ?? Folder.name(of: self.path)
      guard let name = ManifestFileName(file) else { throw StopError.noManifest(path) }
      job = name.job
      format = name.format.name
      guard !job.isEmpty, job.utf8.count <= InboxFile.jobNameLimit else {
        throw StopError.missing(path, "the job's name must have 1 to \(InboxFile.jobNameLimit) bytes")
      }
      if InboxFile.isPage(job: job) { throw StopError.missing(path, "no job can be called \(job)") }
      let status = try OpenFile(reading: self.path, followingLinks: !isInInbox).status()
      guard status.kind == .file else { throw StopError.missing(path, "it is no file") }
      identity = status.identity.text
      cancelKeys =
        [job, nil].map { CancelRequest.key(ofNamed: $0, startedAt: Self.processStart) }
        + (isInInbox ? [CancelRequest.key(ofManifest: file, identity: identity)] : [])
    } catch let error as SystemError {
      guard error.mayPassSoon else { throw StopError.missing(error) }
      throw error.redacted
    }
  }

  /// - Parameters:
  ///   - names: Names for files that have none of their own, by path.
  ///   - retry: How long operations that fail because of the machine are retried. Default: not at all.
  ///   - report: Called with the reason why a file cannot be a manifest, unless it is thrown.
  /// - Returns: Those of the files that can be manifests.
  /// - Throws: `StopError.missing` when none can; `SystemError` when the machine fails.
  static func all(
    _ files: [String], called names: [String: String], inbox: String, retry: LocalRetry = .none,
    report: (StopError) -> Void
  ) throws -> [NamedManifest] {
    var missing: [StopError] = []
    let usable = try files.compactMap { file in
      do {
        return try retry.run { try NamedManifest(file, as: names[file], inbox: inbox) }
      } catch let error as StopError where error.isMissing {
        missing.append(error)
        return nil
      }
    }
    let thrown = usable.isEmpty ? missing.popLast() : nil
    missing.forEach(report)
    if let thrown { throw thrown }
    return usable
  }

  /// The path with symbolic links resolved; nil when it does not exist.
  private static func resolved(_ path: String) throws(SystemError) -> String? {
    do {
      return try Folder.resolved(path)
    } catch  where !error.mayPassSoon {
      return nil
    }
  }
}
