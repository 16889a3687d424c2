import Darkroom
import JSON
import System

struct GCCommand: Command {
  let name = "gc"
  let operands = ""
  let summary = "remove now what later runs would: old history, cache beyond its size, unused records"
  let details = """
    Each run removes what it no longer needs, a little at a time. This does all of it at once: earlier runs beyond
    --keep-history, sources in the cache beyond --cache-size, files that a killed process left, records of the ledger that no
    run needs, and the free space in its file. Pictures, last reports and files of others stay. With --dry-run, nothing is
    removed, and the numbers are printed; those of the cache are estimates. While an instance runs, exits with 75. With --json,
    prints an object for each kind: "kind", "count", "bytes".
    """
  let examples = [
    "darkroom gc --dry-run",
    "darkroom gc --keep-history 2 --cache-size 0",
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    guard invocation.operands.isEmpty else {
      throw UsageError("gc takes no operands, such as \"\(invocation.operands[0])\": it concerns all jobs")
    }
    let settings = invocation.settings
    // A mistyped folder must not become a new one.
    _ = try settings.resolved(for: .dropping)
    let collection = GarbageCollection(
      configuration: try settings.resolved(for: .maintaining), isDryRun: settings.isDryRun)
    for removed in try collection.collect(warn: { invocation.console.warn("warning: " + $0) }) {
      try invocation.output.print(settings.isJSON ? removed.json.text : removed.text(isDryRun: settings.isDryRun))
    }
    return .success
  }
}

extension GarbageCollection.Removed {
  fileprivate var json: JSONValue {
    .object(["kind": .string(kind), "count": .integer(count), "bytes": .integer(bytes)])
  }

  fileprivate func text(isDryRun: Bool) -> String {
    let what =
      switch kind {
      case "history": count.of("earlier run", "earlier runs")
      case "cache": count.of("source", "sources")
      case "leftovers": count.of("file", "files")
      case "records": count.of("record", "records")
      default: count.of("free page", "free pages")
      }
    let size = bytes > 0 ? ", \(ByteCount(bytes))" : ""
    return kind.padding(to: 11) + (isDryRun ? "would remove " : "removed ") + what + size
  }
}
