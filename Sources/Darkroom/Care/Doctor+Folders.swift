import Foundation
import Inbox
import Model
import System

/// The folders and their file systems.
extension Doctor {
  func folders() -> [Finding] {
    let other = otherOutbox
    let named = [("inbox", configuration.inbox)] + (other == nil ? [("outbox", configuration.outbox)] : [])
    let state = configuration.state == configuration.defaultState ? [] : [("state", configuration.state)]
    let fileRoot = configuration.transfer.fileRoot.map { [readable("file-root", $0)] } ?? []
    return (named + state).flatMap { check($0, $1) } + (other.map { [$0] } ?? delivery()) + space() + fileRoot
  }

  /// Nothing may be written into a folder under which the outbox is to be mounted.
  private var otherOutbox: Finding? {
    let outbox = OutboxFolder(path: configuration.outbox)
    guard !configuration.replacesOutbox,
      let difference = KnownOutboxes.difference(inbox: configuration.inbox, outbox: outbox)
    else { return nil }
    let consequence = difference == .missing ? "begins a new one here" : "uses this one from now on"
    return Finding(
      .failed, "outbox", "\(outbox.path): \(difference.text)", remedy: "mount it; \"run --create\" \(consequence)")
  }

  private func check(_ subject: String, _ path: String) -> [Finding] {
    if configuration.newFolders.contains(path) {
      return [Finding(subject, "\(path) does not exist yet: \"run\" and \"watch\" create it")]
    }
    do {
      let probe = try FolderProbe(path)
      let lead = try probe.write()
      return [writable(subject, path, probe)] + locks(subject, path, probe) + time(subject, path, lead: lead)
    } catch {
      return [
        Finding(
          .failed, subject, "\(error)",
          remedy: remedy(for: error, else: "this user must be able to create, rename and remove files there: \(user)"))
      ]
    }
  }

  /// - Parameter other: The remedy for errors that are not those of a file system that is mounted read-only.
  private func remedy(for error: SystemError, else other: String) -> String {
    error.code == EROFS ? error.accessRemedy ?? other : other
  }

  private var user: String { "uid \(geteuid()), gid \(getegid())" }

  private func writable(_ subject: String, _ path: String, _ probe: FolderProbe) -> Finding {
    guard probe.isOnNetwork else {
      return Finding(subject, "\(path): files can be created, synced, renamed and removed")
    }
    let limit = "the kernel tells nothing of changes on a network file system: the folder is scanned instead"
    return Finding(
      .warning, subject, "\(path) is on a network file system: \(limit)",
      remedy: subject == "state"
        ? "put --state on a local disk: the ledger is a database"
        : "nothing, if it must be shared; --settle is at least 10 s there, and --state belongs on a local disk")
  }

  private func locks(_ subject: String, _ path: String, _ probe: FolderProbe) -> [Finding] {
    if (try? probe.honoursLocks()) == true { return [] }
    return [
      Finding(
        .failed, subject, "\(path): its file system does not honour locks: two instances could work there at once",
        remedy: "use another file system, or mount it with locks (NFS without nolock)")
    ]
  }

  /// - Parameter lead: How much later the file system's clock is than this machine's, in seconds.
  private func time(_ subject: String, _ path: String, lead: Double) -> [Finding] {
    guard abs(lead) > 2 else { return [] }
    let seconds = abs(lead).formatted(.number.precision(.fractionLength(0)))
    return [
      Finding(
        .warning, subject, "\(path): the clock of its file system is \(seconds) s \(lead > 0 ? "ahead" : "behind")",
        remedy: "set the clocks of this machine and of the file server by the same time server")
    ]
  }

  /// Results are written to staging and renamed into the outbox.
  private func delivery() -> [Finding] {
    let hidden = OutboxFolder(path: configuration.outbox).hidden
    guard access(hidden, F_OK) == 0, let outbox = try? FolderProbe(configuration.outbox) else { return [] }
    do {
      let staging = try FolderProbe(hidden)
      try staging.rename(into: outbox)
      return (try? staging.hasLinks()) == false
        ? [Finding("links", "\(hidden): files cannot have two names there; they are copied instead")] : []
    } catch {
      let isElsewhere = error.code == EXDEV
      return [
        Finding(
          .failed, "staging", isElsewhere ? "\(hidden) and the outbox are on different file systems" : "\(error)",
          remedy: isElsewhere
            ? "results are renamed from there into the outbox: keep them together, and move --state instead"
            : remedy(for: error, else: "it belongs to the user that runs darkroom, and this is \(user)"))
      ]
    }
  }

  private func space() -> [Finding] {
    var seen: Set<UInt64> = []
    return [configuration.outbox, configuration.state].compactMap { path in
      guard let folder = existing(path), let device = try? FolderProbe(folder).device(), seen.insert(device).inserted,
        let free = try? Folder.freeSpace(folder)
      else { return nil }
      let text = "\(ByteCount(free)) free on the file system of \(path)"
      if free >= configuration.minFree { return Finding("space", text) }
      return Finding(
        .failed, "space", text + ", less than --min-free \(ByteCount(configuration.minFree)): the queues would pause",
        remedy: "free some; --keep-history, --cache-size and --prune limit what darkroom keeps")
    }
  }

  /// The nearest existing folder of a path.
  private func existing(_ path: String) -> String? {
    var path = path
    while access(path, F_OK) != 0 {
      guard path != "/", path != "." else { return nil }
      path = Folder.parent(of: path)
    }
    return path
  }

  private func readable(_ subject: String, _ path: String) -> Finding {
    do {
      _ = try OpenFolder(path).names()
      return Finding(subject, "\(path) is readable")
    } catch {
      return Finding(.failed, subject, "\(error)", remedy: "this user must be able to read it: \(user)")
    }
  }
}
