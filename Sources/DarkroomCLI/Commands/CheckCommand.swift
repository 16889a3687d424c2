import Darkroom
import JobIndex
import JSON
import Model
import Planning
import System
import Transfer

struct CheckCommand: Command {
  let name = "check"
  let operands = "MANIFEST…"
  let summary = "parse, validate and print the plan; exit with 65 if one would be rejected"
  /// Computed, since every start creates all commands.
  var details: String {
    """
    \(Self.plan)

    The fields of an entry: \(Self.fields). \(Self.lists)
    """
  }

  private static let plan = """
    Prints a line for each entry: its output, its recipe, its URL, the rule for its host and the entries that it comes after;
    and a warning if it would fail, as far as that can be told without a network: give the --allow-net and --file-root of
    the run. Takes all options of run that are no "options of one command"; those that make no difference are not listed here. - reads a manifest from standard input. Warns of columns that are nearly fields, and of a table's encoding.
    Of many problems, only the first ten are printed. A manifest that cannot be read does not keep others from being
    checked. Names, also in "after", are those of a job's first run. With --json, prints an object for each manifest, with
    "state" and all of these, and one for each of its entries, with "url" and, instead of the warning, "error". Nothing is
    downloaded or created.
    """

  private static var fields: String { EntryField.all.map(\.name).joined(separator: ", ") }

  private static let lists = """
    "darkroom help manifest" describes them. A .json or .plist that is {"source": URL, "defaults": {…}} takes its entries from a list at that URL, or from the files
    of a folder beneath --file-root ("file:incoming/", "file:incoming/**/*.jpg"), which check lists.
    """
  let examples = [
    "darkroom check cats.json",
    "darkroom check --json cats.json | jq -r 'select(.url) | .output'",
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    guard !invocation.operands.isEmpty else { throw UsageError("check needs a manifest") }
    try invocation.settings.checkFileRoot()
    let input = try invocation.standardInput()
    let check = ManifestCheck(configuration: invocation.settings.withGivenFolders)
    let isJSON = invocation.settings.isJSON
    let output = invocation.output
    var (isRejected, isMissing, job, total, failures) = (false, false, "", 0, 0)
    for operand in invocation.operands {
      do {
        try check.check(
          operand == "-" ? input?.path ?? operand : operand,
          called: operand == "-" ? input.map { StandardInputManifest.job + "." + $0.suffix } : nil,
          begin: { result in
            (job, total, failures) = (result.job, result.total, 0)
            isRejected = isRejected || !result.problems.isEmpty
            try output.print(isJSON ? result.json.text : result.text)
          },
          each: { entry in
            failures += entry.error == nil ? 0 : 1
            try output.print(isJSON ? entry.json(in: job).text : entry.text)
          })
      } catch let error as StopError {
        guard case .missing = error else { throw error }
        invocation.console.fail("\(error)")
        isMissing = true
        continue
      }
      if failures > 0, !isJSON {
        try output.print("  warning: \(failures) of \(total.of("entry", "entries")) would fail")
      }
    }
    return .first(of: [isRejected ? .rejected : .success, isMissing ? .missing : .success])
  }
}

extension ManifestCheck.Result {
  var text: String {
    let source = source?.shortened().visible
    let head =
      switch (problems.isEmpty, source) {
      case (false, _): "rejected, \(problems.count.of("problem", "problems"))"
      case (true, let source?) where !isListed:
        "job \(job), its entries are listed by \(source), which check does not read"
      case (true, let source?): "job \(job), \(total.of("entry", "entries")) of \(source)"
      case (true, nil): "job \(job), \(total.of("entry", "entries"))"
      }
    return
      (["\(file.visible): \(head)"] + Self.first(problems.map { "  \("\($0)".visible)" })
      + ((problems.isEmpty ? sourceError : nil).map {
        ["  warning: would fail: \($0.code.rawValue): \($0.message.shortened().visible)"]
      } ?? [])
      + Self.first(warnings.map { "  warning: \("\($0)".visible)" })).joined(separator: "\n")
  }

  private static func first(_ lines: [String]) -> [String] {
    let more = lines.count - EventLog.shownProblems
    return lines.prefix(EventLog.shownProblems) + (more > 0 ? ["  and \(more) more; --json prints all"] : [])
  }

  var json: JSONValue {
    .object([
      "manifest": .string(file), "job": .string(job), "format": .string(format),
      "state": .string(problems.isEmpty ? "accepted" : "rejected"), "total": .integer(total),
      "source": source.map { .string($0) }, "error": sourceError.map(\.json),
      "errors": problems.isEmpty
        ? nil
        : .array(
          problems.map { problem in
            .object([
              "code": .string(problem.code.rawValue), "message": .string(problem.message),
              "where": problem.location == .file ? nil : .string(problem.location.description),
            ])
          }),
      "warnings": warnings.isEmpty ? nil : .array(warnings.map(\.json)),
    ])
  }
}

extension ManifestCheck.PlannedEntry {
  fileprivate var text: String {
    let verb = error == nil ? "this mirror would fail" : "would fail"
    let urls = mirrors.map { mirror in
      let doubt =
        mirror.error.map { "\(verb): \($0.code.rawValue): \($0.message)" } ?? SourceLocation.slashHint(for: mirror.url)
      return mirror.url.shortened().visible + (mirror.rule.map { "  (rule \($0))" } ?? "")
        + (doubt.map { "\n    warning: \($0.shortened().visible)" } ?? "")
    }
    return "  \(output.visible)  \(filters)  \(method == "GET" ? "" : method + " ")"
      + urls.joined(separator: "\n    or ")
      + (after.isEmpty ? "" : "\n    after " + after.joined(separator: ", ").visible)
  }

  fileprivate func json(in job: String) -> JSONValue {
    .object([
      "job": .string(job), "index": .integer(position), "name": .string(name),
      "variant": variant.map { .string($0) }, "output": .string(output),
      "url": .string(mirrors.first?.url ?? ""), "rule": mirrors.first?.rule.map { .string($0) },
      "mirrors": mirrors.count < 2
        ? nil
        : .array(
          mirrors.map {
            .object(["url": .string($0.url), "rule": $0.rule.map { .string($0) }, "error": $0.error.map(\.json)])
          }),
      "method": .string(method), "filters": .string(filters), "format": .string(format), "quality": .integer(quality),
      "priority": .string(priority), "after": after.isEmpty ? nil : .array(after.map(JSONValue.string)),
      "error": error.map(\.json),
    ])
  }
}

extension TransferError {
  fileprivate var json: JSONValue {
    .object(["stage": .string("download"), "code": .string(code.rawValue), "message": .string(message)])
  }
}
