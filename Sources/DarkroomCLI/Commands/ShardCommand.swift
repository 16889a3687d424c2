import Darkroom
import JSON
import Model
import System

struct ShardCommand: Command {
  let name = "shard"
  let operands = "split|run|merge|status …"
  let summary = "divide a manifest among machines, and do its shards"
  let details = """
    shard split MANIFEST DIR writes --shards manifests, DIR/0/JOB.jsonl to DIR/N-1/JOB.jsonl, and DIR/plan.json, which says how
    the manifest was divided. All entries of a host are in one shard, so that the limits of a host hold wherever the shards are
    done. A host that is larger than a shard is cut into at most as many parts as --per-host allows at once, and each part may
    use its share of that. --by domain keeps all hosts of a registered domain together. Entries tied by "after" stay together,
    and names are settled, so that no two shards write the same file. A changed manifest is divided nearly as before. Of a
    folder, the files of now are divided. DIR is created, complete or not at all. - reads a manifest from standard input. With
    --json, prints plan.json.

    shard run DIR claims the next shard that nobody does, one after another until none is left; shard run DIR K, or --by-index,
    does one. Any number of processes may do so at once, on any machine that has DIR and the outbox. It takes all
    options of run but --prune, --notify and --exec, see "darkroom help run"; few of them are listed here. Pictures go to the outbox, records to DIR/K; what has ended there is not done again, also when a machine is lost with its
    state. Locks in the inbox pause all, cancel stops all. Exits with 0 when its shards are complete, whatever became of their
    entries, and with 75 when something is left.

    shard merge DIR writes the job's one report into the outbox, and exits as run does; with 75 while a shard is not complete,
    unless --partial. shard status DIR tells which shards are complete, who does the others, and how long they will take.
    """
  let examples = [
    "darkroom shard split --shards 64 cats.json shards",
    "darkroom shard run shards",
    "darkroom shard status shards",
    "darkroom shard merge shards",
  ]

  let takesSignals = true

  private static let actions = ["split", "run", "merge", "status"]

  /// The actions that take each of the options of this command.
  private static let actionsOfOptions = [
    "shards": ["split"], "by": ["split"], "name": ["split"], "per-host": ["split", "run"], "by-index": ["run"],
    "claim-timeout": ["run", "status"], "partial": ["merge"],
    "accept-failures": ["run", "merge"], "fail-empty": ["run", "merge"],
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    let (action, operands) = (invocation.operands.first, Array(invocation.operands.dropFirst()))
    if let action, Self.actions.contains(action) { try checkOptions(of: action, invocation.settings) }
    switch action {
    case "run": return try ShardRunAction(invocation, operands).run()
    // The others leave nothing that a later start would not put right.
    case "split": return try Signals.endingAtOnce { try split(operands, invocation) }
    case "merge": return try Signals.endingAtOnce { try merge(operands, invocation) }
    case "status": return try Signals.endingAtOnce { try status(operands, invocation) }
    case let action?: throw UsageError(NearestName.unknown("action of shard", action, among: Self.actions))
    case nil: throw UsageError("shard needs an action: " + Self.actions.joined(separator: ", "))
    }
  }

  /// - Throws: `UsageError` for an option on the command line that the action does not take.
  private func checkOptions(of action: String, _ settings: Settings) throws {
    let wrong = OptionTable.all.filter { settings.origins[$0.name] == $0.longName }.first { option in
      !Self.isTaken(option, by: action)
    }
    if let wrong { throw UsageError("shard \(action) does not take \(wrong.longName)") }
  }

  private static func isTaken(_ option: Option, by action: String) -> Bool {
    if let takers = actionsOfOptions[option.name] { return takers.contains(action) }
    return action == "run" || option.isListed(for: "shard") || action == "merge" && option.name == "gallery"
  }

  /// Whether completion lists an option for an action; nil when there is no such action.
  static func isListed(_ option: Option, for action: String) -> Bool? {
    guard actions.contains(action) else { return nil }
    let isRefused = action == "run" && ShardRunAction.refused.contains(option.name)
    return option.isTaken(by: "shard") && isTaken(option, by: action) && !isRefused
  }

  private func split(_ operands: [String], _ invocation: Invocation) throws -> ExitCode {
    guard let manifest = operands.first, let folder = operands.dropFirst().first, operands.count == 2 else {
      throw UsageError("shard split needs a manifest and the folder to create")
    }
    guard let count = invocation.settings.shards else { throw UsageError("shard split needs --shards") }
    let settings = invocation.settings
    guard !folder.isEmpty, folder != "-" else {
      throw UsageError("\"\(folder)\" is not the name of a folder to create")
    }
    let input = manifest == "-" ? try StandardInputManifest() : nil
    try settings.checkFileRoot()
    let split = ShardSplit(
      configuration: settings.withGivenFolders, count: count, by: settings.shardGrouping)
    let outcome = try split.split(
      input?.path ?? manifest, called: input.map { StandardInputManifest.job + "." + $0.suffix },
      job: try settings.checkedJobName(), earlierIn: settings.outbox.path, into: folder)
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

  private func merge(_ operands: [String], _ invocation: Invocation) throws -> ExitCode {
    let shards = try Self.folder(operands, of: "merge")
    let configuration = try invocation.settings.resolved(for: .merging)
    var merge = ShardMerge(
      shards, outbox: configuration.outbox, state: configuration.state, hasPage: configuration.gallery == .on)
    switch try merge.merge(isPartial: invocation.settings.isPartial) {
    case .unfinished(let left):
      invocation.console.fail(
        "\(left.count.of("shard", "shards")) of \(shards.plan.shards.count) are not complete: \(left.listed); nothing was written",
        hint: (shards.isCancelled
          ? "the job was cancelled: when \(shards.path)/cancelled is removed, \"darkroom shard run\" goes on with them"
          : "\"darkroom shard run\" goes on with them") + "; --partial merges what there is")
      return .tryAgain
    case .merged(let head, let report, let left, let warning):
      if !left.isEmpty {
        invocation.console.warn(
          "warning: \(left.count.of("shard", "shards")) of \(shards.plan.shards.count) are not complete: \(left.listed)"
        )
      }
      if let warning { invocation.console.warn("warning: \(warning)") }
      let settings = invocation.settings
      let state = head.state ?? .failed
      if let counts = head.counts {
        invocation.console.note(
          "job \(shards.job) \(state.rawValue): \(counts.filtered) of \(counts.total) filtered, \(counts.failed) failed"
        )
      }
      try invocation.output.print(settings.isJSON ? JSONValue.object(head.members).text : report)
      return ExitCode([settings.configuration.accepted(state, of: head)])
    }
  }

  private func status(_ operands: [String], _ invocation: Invocation) throws -> ExitCode {
    let settings = invocation.settings
    let shards = try Self.folder(operands, of: "status")
    let status = try ShardStatus(of: shards, timeout: settings.claimTimeout)
    try invocation.output.print(settings.isJSON ? status.json.text : status.text(in: operands[0]))
    return .success
  }

  static func folder(_ operands: [String], of action: String) throws -> ShardFolder {
    guard let path = operands.first, operands.count == 1 else {
      throw UsageError("shard \(action) needs the folder of the shards")
    }
    return try ShardFolder(path)
  }
}

extension [Int] {
  /// Numbers for a message, the first ten of them.
  var listed: String { prefix(10).map(String.init).joined(separator: ", ") + (count > 10 ? " …" : "") }
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
    let rest = more > 0 ? ["  and \(more.of("more host", "more hosts")); --json prints all"] : []
    return ([head] + cut.prefix(EventLog.shownProblems) + rest).joined(separator: "\n")
  }
}

extension ShardStatus {
  fileprivate func text(in folder: String) -> String {
    let open = count(.open) + count(.interrupted)
    var lines = [
      "\(folder): job \(job), \(count(.complete)) of \(shards.count.of("shard", "shards")) complete, "
        + "\(count(.running)) in work, \(open) open; \(ended) of \(rows.of("result", "results"))"
    ]
    if isCancelled { lines[0] += "; cancelled" }
    for shard in shards {
      let progress = "  \(shard.number): \(shard.ended) of \(shard.rows)"
      switch shard.state {
      case .running:
        lines.append("\(progress), \(shard.holder ?? ""), renewed \(Int(shard.age ?? 0)) s ago")
      case .interrupted: lines.append("\(progress), interrupted")
      case .complete, .open: break
      }
    }
    if let rate {
      let left = secondsLeft.map { ", about \($0.clockText) left" } ?? ""
      lines.append("\(rate.formatted(.number.precision(.fractionLength(1)))) results per second" + left)
    }
    return lines.joined(separator: "\n")
  }
}
