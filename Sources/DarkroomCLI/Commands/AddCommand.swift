import Darkroom
import Transfer

struct AddCommand: Command {
  let name = "add"
  let operands = "FILE|URL…"
  let summary = "put manifests, or the given URLs, into the inbox, safely"
  let details = """
    Each FILE is a manifest and becomes a separate job; - reads one from standard
    input, called stdin-TIME unless --name says otherwise. URLs become one job
    together, called urls-TIME. Prints the name of each job on standard output. If
    another manifest in the inbox has the same job name, a note on standard error
    says so: they run one after the other, and wait waits for both. One whose file
    name is taken in the inbox is not added: exit code 75. Of several, those that
    cannot be added keep no other from being added.
    """
  let examples = [
    "darkroom add cats.json",
    "darkroom add --name travel https://pictures.example/rocket.jpg",
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    let urls = invocation.operands.filter { $0.contains("://") }
    let files = invocation.operands.filter { !$0.contains("://") }
    guard !invocation.operands.isEmpty else { throw UsageError("add needs a manifest or URLs") }
    guard urls.isEmpty || files.isEmpty else {
      throw UsageError("add takes manifests or URLs, not both: \"\(files[0])\" is not a URL")
    }
    let job = try invocation.settings.checkedJobName()
    if job != nil, files.count > 1 { throw UsageError("--name names one job; \(files.count) manifests are given") }
    for url in urls { try Self.check(url) }
    let input = try invocation.standardInput()
    let drop = ManifestDrop(inbox: try invocation.settings.resolvedInbox(for: .dropping))
    if !urls.isEmpty { tell(try drop.add(urls: urls, job: job), invocation.console) }
    var codes: Set<ExitCode> = []
    for file in files {
      do {
        let dropped = try file == "-" ? input.map { try drop.add($0, job: job) } : drop.add(file, job: job)
        if let dropped { tell(dropped, invocation.console) }
      } catch  where files.count > 1 {
        invocation.console.warn("\(error)")
        codes.insert(Program.exitCode(error))
      }
    }
    // The manifests are safe there: they wait until somebody reads them.
    _ = invocation.warn(of: try invocation.inboxReader())
    return .first(of: codes)
  }

  private func tell(_ dropped: ManifestDrop.Dropped, _ console: Console) {
    console.result(dropped.job)
    if dropped.isPrivate {
      console.warn(
        "only you can read \(dropped.file), and the inbox belongs to another user: if the service does, too, it ignores "
          + "the manifest until others can read it (chmod)")
    }
    guard !dropped.others.isEmpty else { return }
    let others = dropped.others.joined(separator: ", ")
    console.note("\(dropped.file) has the same job name as \(others) in the inbox: they run one after the other")
  }

  /// Rejects a URL that no instance could download. Addresses and files depend on the instance's options: not checked.
  private static func check(_ url: String) throws {
    do throws(TransferError) {
      _ = try SourceLocation(parsing: url)
    } catch {
      throw UsageError(error.message)
    }
  }
}
