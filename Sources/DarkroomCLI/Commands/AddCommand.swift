import Darkroom
import Transfer

/// Puts manifests, or URLs, into the inbox.
struct AddCommand: Command {
  let name = "add"
  let operands = "FILE|URL…"
  let summary = "put a manifest, or the URLs given, into the inbox, safely"
  let details = """
    Each FILE is a manifest and becomes a separate job; URLs become one job
    together, called urls-TIME unless --name says otherwise. The name of each job is
    printed on standard output.
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
    let job = try invocation.settings.jobName.map(checkedName)
    if job != nil, files.count > 1 { throw UsageError("--name names one job; \(files.count) manifests are given") }
    for url in urls { try Self.check(url) }
    let drop = ManifestDrop(inbox: try invocation.settings.resolvedInbox())
    if !urls.isEmpty { invocation.console.result(try drop.add(urls: urls, job: job)) }
    for file in files { invocation.console.result(try drop.add(file, job: job)) }
    return .success
  }

  /// Rejects a URL that no instance could download. Addresses and files depend on its options and are not checked.
  private static func check(_ url: String) throws {
    do throws(TransferError) {
      _ = try SourceLocation(parsing: url)
    } catch {
      throw UsageError(error.message)
    }
  }

  private func checkedName(_ name: String) throws -> String {
    guard !name.hasPrefix("."), !name.contains("/"), !name.contains("\0"), name.utf8.count <= 200, !name.isEmpty else {
      throw UsageError("--name \"\(name)\" is not a name for a file in the inbox")
    }
    return name
  }
}
