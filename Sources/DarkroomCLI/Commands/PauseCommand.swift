import Darkroom
import System

struct PauseCommand: Command {
  let name = "pause"
  let operands = "[NAME]"
  let summary = "suspend both queues: create INBOX/NAME.lock (default: pause.lock)"
  let details = """
    Running operations of all jobs finish, and no new ones start. Several locks may exist at once; the queues resume when the
    last one is removed. An existing lock is no error, and keeps its reason, if it has one. Without an instance, the next one waits for the lock.
    """
  let examples = [
    "darkroom pause",
    #"darkroom pause backup --reason "nightly backup""#,
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    let (lock, console, settings) = (try invocation.lockFile(), invocation.console, invocation.settings)
    let creation = try lock.create(reason: settings.reason)
    if creation == .foundFolder { console.warn("\(lock.path) is a folder, which cannot hold a reason") }
    if case .foundReason(let reason) = creation {
      console.warn("\(lock.path) keeps its reason, \"\(reason)\"; to change it, write another first line into the file")
    }
    console.note((creation == .made ? "paused by " : "already paused by ") + lock.path)
    let reader = try invocation.inboxReader()
    if reader == .nextStart {
      let shards = SharedOutbox(settings.outbox.path).jobs
      console.note(
        shards.isEmpty
          ? "no instance is running; the next one waits until the lock is gone"
          : "no instance is running; processes that do the shards of \(shards.joined(separator: ", ")) wait until the lock is gone"
      )
    }
    let jobs = KnownNames(inbox: settings.inbox.path, outbox: settings.outbox.path).openJobs
    if let job = invocation.operands.first, jobs.contains(job) {
      console.note("\(job) is a job, and a lock pauses all jobs; \"darkroom cancel \(job)\" ends that one alone")
    }
    return invocation.warn(of: reader) ? .tryAgain : .success
  }
}

extension Invocation {
  /// Who will read what the command puts into the inbox.
  func inboxReader() throws -> InboxReader {
    InboxReader(inbox: try settings.resolvedInbox(for: .reading), try? settings.resolved(for: .reading))
  }

  /// Warns if an instance runs that does not see what was put into the inbox.
  /// - Returns: Whether it is so.
  func warn(of reader: InboxReader) -> Bool {
    guard case .nobody(let process, let why) = reader else { return false }
    console.warn("process \(process) works on this outbox, but cannot read the inbox, and does not see this: \(why)")
    return true
  }

  /// The lock that the operand of `pause` and `resume` names.
  /// - Throws: `UsageError` for a name that no file in the inbox can have; `StopError.missing`.
  func lockFile() throws -> LockFile {
    guard operands.count <= 1 else { throw UsageError("one name at most, not \(operands.count)") }
    let name = operands.first ?? "pause"
    guard !name.isEmpty, !name.has("/"), !name.has("\0"), name.utf8.count <= 250 else {
      throw UsageError("\"\(name)\" is not a name for a lock in the inbox")
    }
    return LockFile(
      inbox: try settings.resolvedInbox(for: .dropping),
      name: name.lowercased().ends(with: ".lock") ? name : name + ".lock")
  }
}
