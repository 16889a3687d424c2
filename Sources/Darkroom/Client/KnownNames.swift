import Foundation
import Inbox
import Model
import System

/// The names of jobs and locks, for the completion of command lines. They are read quickly, without the ledger.
/// Anything unreadable is left out.
package struct KnownNames {
  private let inbox: String
  private let outbox: String

  /// - Parameters:
  ///   - inbox: The inbox's path; it need not exist.
  ///   - outbox: The outbox's path; it need not exist.
  package init(inbox: String, outbox: String) {
    self.inbox = inbox
    self.outbox = outbox
  }

  /// The jobs that have not ended: those in the status of the last instance, and those of manifests in the inbox.
  package var openJobs: [String] {
    var jobs = Set((scan?.manifests ?? []).map { ByteKey($0.job) })
    if let file = try? OpenFolder(searching: outbox).open(reading: OutboxFolder.hidden(OutboxFolder.statusName)),
      let data = try? file.readAll(), let status = try? JSONDecoder().decode(Status.self, from: data)
    {
      jobs.formUnion(status.jobs.map { ByteKey($0.job) })
    }
    return Self.listed(jobs.map(\.text))
  }

  /// The jobs that have a report in the outbox.
  package var endedJobs: [String] {
    guard let folder = try? OpenFolder(outbox), let names = try? folder.names() else { return [] }
    return Self.listed(
      names.compactMap(\.text).filter { name in
        guard !name.begins(with: "."), let status = try? folder.status(of: name + "/report.json") else { return false }
        return status.kind == .file
      })
  }

  /// The locks in the inbox, in the form that `darkroom resume` accepts.
  package var locks: [String] {
    let suffix = ".lock"
    return Self.listed(
      (scan?.locks ?? []).map { lock in
        let isSuffixed = lock.name.utf8.count > suffix.utf8.count && lock.name.lowercased().ends(with: suffix)
        return isSuffixed ? lock.name.dropping(bytesOfSuffix: suffix) : lock.name
      })
  }

  private var scan: InboxScan? { try? Inbox(path: inbox, extraLock: nil).scan() }

  /// Sorted names, without those that contain control characters.
  private static func listed(_ names: some Sequence<String>) -> [String] {
    names.filter { name in
      !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }.sorted()
  }
}
