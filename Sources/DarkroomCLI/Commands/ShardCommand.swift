import Darkroom
import JSON
import System

struct ShardCommand: Command {
  let name = "shard"
  let operands = "split MANIFEST DIR"
  let summary = "divide a manifest into shards for several machines"
  let details = """
    shard split MANIFEST DIR writes --shards manifests, DIR/0/JOB.jsonl to DIR/N-1/JOB.jsonl, and DIR/plan.json, which says how
    the manifest was divided. All entries of a host are in one shard, so that the limits of a host hold wherever the shards are
    done. A host that is larger than a shard is cut into at most as many parts as --per-host allows at once, and each part may
    use its share of that. Entries tied by "after" stay together, and names are settled, so that no two shards write the same
    file. A changed manifest is divided nearly as before. Of a folder, the files of now are divided. DIR is created, complete or
    not at all. - reads a manifest from standard input. With --json, prints plan.json.
    """
  let examples = [
    "darkroom shard split --shards 64 cats.json shards",
    "darkroom shard split --json --shards 8 --per-host 4 cats.json out",
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    guard let action = invocation.operands.first else { throw UsageError("shard needs an action: split") }
    guard action == "split" else {
      throw ["run", "merge", "status"].contains(action)
        ? UsageError.unavailable("shard \(action)")
        : UsageError(NearestName.unknown("action of shard", action, among: ["split"]))
    }
    return try split(invocation)
  }

  private func split(_ invocation: Invocation) throws -> ExitCode {
    let operands = invocation.operands.dropFirst()
    guard let manifest = operands.first, let folder = operands.dropFirst().first, operands.count == 2 else {
      throw UsageError("shard split needs a manifest and the folder to create")
    }
    guard let count = invocation.settings.shards else { throw UsageError("shard split needs --shards") }
    let settings = invocation.settings
    guard !folder.isEmpty, folder != "-" else {
      throw UsageError("\"\(folder)\" is not the name of a folder to create")
    }
    let input = manifest == "-" ? try StandardInputManifest() : nil
    let split = ShardSplit(configuration: settings.withGivenFolders, count: count)
    let outcome = try split.split(
      input?.path ?? manifest, called: input.map { StandardInputManifest.job + "." + $0.suffix },
      job: try settings.checkedJobName(), into: folder)
    switch outcome {
    case .rejected(let result):
      try invocation.output.print(settings.isJSON ? result.json.text : result.text)
      return .rejected
    case .divided(let plan, let warnings):
      for warning in warnings { invocation.console.warn("warning: \(warning)") }
      try invocation.output.print(settings.isJSON ? plan.json.text : plan.text(in: folder))
    }
    return .success
  }
}

extension ShardPlan {
  fileprivate func text(in folder: String) -> String {
    let sizes = shards.map(\.rows)
    let (least, most) = (sizes.min() ?? 0, sizes.max() ?? 0)
    let each = least == most ? most.of("result", "results") + " each" : "\(least) to \(most) results each"
    let head =
      "\(folder): job \(job), \(entries.of("entry", "entries")) of \(hosts.of("host", "hosts")) in "
      + "\(shards.count.of("shard", "shards")), \(each)"
    let cut = shared.map { host in
      let shares = host.shares.map { "\($0.shard): \($0.downloads)" }.joined(separator: ", ")
      let all = host.shares.reduce(0) { $0 + $1.downloads }
      return "  \(host.host): \(all) downloads at once, of which shards have \(shares)"
    }
    let more = cut.count - EventLog.shownProblems
    return
      ([head] + cut.prefix(EventLog.shownProblems) + (more > 0 ? ["  and \(more) more hosts; --json prints all"] : []))
      .joined(separator: "\n")
  }
}
