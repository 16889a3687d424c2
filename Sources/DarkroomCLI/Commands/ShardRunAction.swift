import Darkroom
import Model
import System

/// `shard run`: does shards that nobody else does, each as a run with its own records.
struct ShardRunAction {
  private let invocation: Invocation
  private let shards: ShardFolder

  /// The only shard to do; nil for all.
  private let number: Int?

  /// The options of `run` that do not concern shards.
  static let refused = ["prune", "notify", "exec"]

  init(_ invocation: Invocation, _ operands: [String]) throws {
    self.invocation = invocation
    guard let path = operands.first, operands.count <= 2 else {
      throw UsageError("shard run needs the folder of the shards, and at most the number of one")
    }
    shards = try ShardFolder(path)
    let given = operands.dropFirst().first
    guard given == nil || !invocation.settings.isByIndex else {
      throw UsageError("shard run takes the number of a shard or --by-index, not both")
    }
    if let given {
      number = try Self.number(given, "\"\(given)\"", in: shards)
    } else {
      number = try Self.index(invocation.settings, in: shards)
    }
    if invocation.settings.configuration.prune {
      let origin = invocation.settings.origins["prune"] ?? "--prune"
      let remedy = origin == "--prune" ? "" : "; --prune=off turns off \(origin)"
      throw UsageError("shard run takes no --prune: the results of other shards are not its own" + remedy)
    }
    // In the environment or the file they may be meant for other commands.
    for name in ["notify", "exec"] where invocation.settings.origins[name] == "--" + name {
      throw UsageError("shard run takes no --\(name): it concerns the whole job")
    }
  }

  private static func number(_ text: String, _ what: String, in shards: ShardFolder) throws -> Int {
    guard let number = Int(text), shards.plan.shards.indices.contains(number) else {
      throw UsageError("\(what) is no number of a shard: they are 0 to \(shards.plan.shards.count - 1)")
    }
    return number
  }

  private static let indexVariables = ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"]

  /// The shard that a scheduler's variable names, with `--by-index`.
  private static func index(_ settings: Settings, in shards: ShardFolder) throws -> Int? {
    guard settings.isByIndex else { return nil }
    for name in indexVariables {
      if let value = settings.environment[name] { return try number(value, "\(name)=\(value)", in: shards) }
    }
    throw UsageError("--by-index needs the variable " + indexVariables.joined(separator: " or "))
  }

  func run() throws -> ExitCode {
    let console = invocation.console
    var settings = invocation.settings
    // Not even their programs need to exist here.
    (settings.configuration.notify, settings.configuration.exec) = (nil, nil)
    let signals = try Signals(screen: console.screen)
    let retry = LocalRetry(limit: LocalRetry.usualLimit, wait: signals.wait) { console.handle(.warning($0)) }
    do {
      let configuration = try retry.run { try settings.resolved() }
      for folder in [configuration.inbox, configuration.outbox] where configuration.newFolders.contains(folder) {
        try Folder.create(folder)
      }
      let worker = ShardWorker(
        shards, configuration, state: settings.state == nil ? nil : configuration.state, timeout: settings.claimTimeout)
      console.beginSummary(areShards: true)
      let outcome = try worker.work(
        on: number,
        perform: { run, keepAlive in
          try Darkroom.repairingLedger(configuration: run.configuration, retry: retry, observe: console.handle) {
            darkroom in
            darkroom.statusInterval = console.statusInterval
            darkroom.publish = console.show
            let stop = darkroom.stop
            darkroom.keepAlive = { keepAlive($0, stop) }
            signals.handle(by: .init(stop: stop, leave: darkroom.leave, grace: darkroom.grace))
            return try darkroom.run(manifests: [run.manifest])
          }
        }, wait: signals.wait, note: console.note)
      console.screen.clear()
      console.printSummary()
      report(outcome)
      return signals.exitCode ?? code(outcome)
    } catch is CancellationError {
      return signals.exitCode ?? .terminated
    }
  }

  private func report(_ outcome: ShardWorker.Outcome) {
    let console = invocation.console
    if outcome.isStopped, shards.isCancelled {
      console.warn("warning: job \(shards.job) was cancelled; to go on with it, remove \(shards.path)/cancelled")
    }
    for (number, why) in outcome.broken.sorted(by: { $0.key < $1.key }).prefix(EventLog.shownProblems) {
      console.warn("warning: shard \(number) cannot be done: \(why)")
    }
    for (number, why) in outcome.postponed.sorted(by: { $0.key < $1.key }).prefix(EventLog.shownProblems) {
      console.warn("warning: shard \(number) is left for later: \(why)")
    }
    for (number, holder) in outcome.others.sorted(by: { $0.key < $1.key }).prefix(EventLog.shownProblems) {
      let text = "shard \(number) is done by \(holder)"
      if self.number == nil { console.note(text) } else { console.warn(text) }
    }
    let total = number == nil ? shards.plan.shards.count : 1
    let failed = outcome.failed > 0 ? ", \(outcome.failed.of("result", "results")) failed" : ""
    console.note("\(outcome.completed) of \(total.of("shard", "shards")) complete" + failed)
    if number == nil, outcome.completed == total {
      console.note("\"darkroom shard merge\" writes the report")
    }
  }

  private func code(_ outcome: ShardWorker.Outcome) -> ExitCode {
    if outcome.isStopped, shards.isCancelled { return .entriesFailed }
    var codes: Set<ExitCode> = outcome.broken.isEmpty ? [] : [.missing]
    for summary in outcome.unfinished.values {
      codes.insert(summary.states.contains(.rejected) ? .rejected : summary.hadTrouble ? .cannotWrite : .tryAgain)
    }
    let isLeft = !outcome.postponed.isEmpty || number != nil && !outcome.others.isEmpty
    if outcome.isStopped || isLeft { codes.insert(.tryAgain) }
    return .first(of: codes)
  }
}
