import Dispatch
import Ledger
import System

/// What goes on in a run that was replaced: each row goes over to the new run as soon as it is durable, and what has none once
/// nothing is in progress any more.
extension LiveJobs {
  // MARK: Rows

  /// Has a row that has become durable in a run that was replaced go over, if its entry is unchanged. The new run tells of it,
  /// when the row is durable there: it is told once, with its place in the new manifest. That is not known before the
  /// manifests are compared, and nothing goes over before the new run has begun.
  /// - Parameters:
  ///   - position: The entry's place in the run.
  ///   - processed: The record of the run in which the entry was worked on.
  /// - Returns: Whether it does.
  func goesOver(_ row: ReportRow, of run: JobRun, from position: Int, _ processed: PhotoRecord) -> Bool {
    guard case .replaced(var replaced) = run.phase, replaced.started.contains(position) else { return false }
    if let comparison = replaced.comparison, comparison.carried[position] == nil { return false }
    if replaced.hasBegun {
      carry([(position, row, processed)], from: run, replaced)
      return true
    }
    replaced.untold[position] = (row, processed)
    run.phase = .replaced(replaced)
    // The new run does not begin any more in this process.
    if isStopping { tellUntold(of: run) }
    return true
  }

  /// Has the rows go over that became durable before the new run had begun.
  func carryUntold(of run: JobRun) {
    guard case .replaced(var replaced) = run.phase, !replaced.untold.isEmpty else { return }
    let rows = replaced.untold.sorted { $0.key < $1.key }.map { ($0.key, $0.value.row, $0.value.processed) }
    replaced.untold = [:]
    run.phase = .replaced(replaced)
    carry(rows, from: run, replaced)
  }

  private func carry(_ rows: [(Int, ReportRow, PhotoRecord)], from run: JobRun, _ replaced: JobRun.Replaced) {
    let new = runs[replaced.successor]
    let carried = rows.compactMap { position, row, processed in
      replaced.comparison?.carried[position].map { entry in
        DeliveryQueue.Carried(
          record: PhotoRecord(entry, run: replaced.heir), row: row.carried(to: entry),
          old: (.init(run: run.number, position: position), replaced.running.plan.run.runID), processed: processed,
          isLogged: new != nil)
      }
    }
    undelivered += carried.count
    run.undelivered += carried.count
    new?.undelivered += carried.count
    delivery.carry(carried, isUrgent: pending.inProgress.isEmpty)
  }

  /// Takes in that rows have gone over.
  func wentOver(_ rows: [DeliveryQueue.Carried]) {
    undelivered -= rows.count
    suspension.wroteSomething()
    for (number, rows) in Dictionary(grouping: rows, by: \.old.id.run) {
      guard let run = runs[number] else { continue }
      run.undelivered -= rows.count
      leave(Set(rows.map(\.old.id.position)), outOf: run)
      for item in rows {
        if runs[item.record.run.number] == nil {
          // It is planned again when this one has ended, and finds the row.
          tell(item.row, of: run)
        } else {
          ended(item.record, item.row, as: item.processed)
        }
      }
    }
  }

  /// Tells of rows of a run that was replaced that do not go over, or not in this process: those of which it was not known yet
  /// which run is to tell of them.
  /// - Parameter isMeant: Tells by their positions which. Default: all.
  func tellUntold(of run: JobRun, where isMeant: (Int) -> Bool = { _ in true }) {
    guard case .replaced(var replaced) = run.phase else { return }
    let untold = replaced.untold.filter { isMeant($0.key) }
    guard !untold.isEmpty else { return }
    for position in untold.keys { replaced.untold[position] = nil }
    run.phase = .replaced(replaced)
    for (position, (row, _)) in untold.sorted(by: { $0.key < $1.key }) {
      tell(replaced.comparison?.carried[position].map(row.carried) ?? row, of: run)
    }
  }

  // MARK: What is left

  /// The entries of a run that go on in the one that it has replaced, by their places in the run. Variants that wait for one
  /// of these are not among them.
  func leftToPredecessor(of number: Int) -> Set<Int> {
    guard let old = predecessor(of: number), case .replaced(let replaced) = old.phase,
      let carried = replaced.comparison?.carried
    else { return [] }
    let (firsts, downloaded) = (scheduler.waitingVariants(run: number), scheduler.downloadedVariants(run: old.number))
    let places = Set(carried.values.map(\.position))
    let waiting = carried.filter { position, entry in
      firsts[entry.position].map(places.contains) == true && !downloaded.contains(position)
    }
    return places.subtracting(waiting.values.map(\.position))
  }

  /// Records that entries of a run do not go on in the one that it has replaced.
  func withdraw(_ places: Set<Int>, fromPredecessorOf number: Int) {
    guard let old = predecessor(of: number), case .replaced(let replaced) = old.phase else { return }
    let carried = replaced.comparison?.carried.filter { places.contains($0.value.position) } ?? [:]
    leave(Set(carried.keys), outOf: old)
  }

  /// Records that entries of a run that was replaced do not go on in it any more.
  private func leave(_ positions: Set<Int>, outOf run: JobRun) {
    guard case .replaced(var replaced) = run.phase else { return }
    for position in positions { replaced.comparison?.carried[position] = nil }
    run.phase = .replaced(replaced)
  }

  /// Has what was left to a run that was replaced go over, without rows: nothing of it is in progress any more.
  func settle(_ number: Int) {
    guard let run = runs[number], case .replaced(var replaced) = run.phase, !replaced.isUnderWay,
      let comparison = replaced.comparison
    else { return }
    replaced.isUnderWay = true
    run.phase = .replaced(replaced)
    let (replacement, heir) = (replacement(of: replaced), replaced.heir)
    let downloaded = scheduler.downloadedVariants(run: number)
    let places = comparison.carried.filter { downloaded.contains($0.key) }.mapValues(\.position)
    DispatchQueue(label: "Comparison").async(group: background) { [send] in
      replacement.moveSources(places, to: heir)
      send(.settled(run: number))
    }
  }

  /// Has the new run start what was left to a run that was replaced. The rest of that is cancelled.
  func settled(_ number: Int) {
    guard let run = runs[number], case .replaced(let replaced) = run.phase else { return }
    run.hold = nil
    run.phase = .cancelling(.init(running: replaced.running, attempts: replaced.attempts, isSuperseded: true))
    guard let new = runs[replaced.successor] else { return }
    handOver((replaced.comparison?.carried ?? [:]).mapValues(\.position), of: run, replaced, to: new)
  }

  /// Records that an entry has not begun whose operations have ended.
  func leaveUnbegun(_ record: PhotoRecord) {
    guard let run = runs[record.run.number], case .replaced(var replaced) = run.phase else { return }
    replaced.unbegun.insert(record.entry.position)
    run.phase = .replaced(replaced)
    startUnbegun(of: run)
  }

  /// Has the run that replaces another start the entries of that which have not begun, although what it goes on with has not
  /// ended: that may take long. Variants that wait for one of these wait for it there.
  func startUnbegun(of run: JobRun) {
    guard case .replaced(var replaced) = run.phase, replaced.hasBegun, !replaced.unbegun.isEmpty,
      let comparison = replaced.comparison, let new = runs[replaced.successor]
    else { return }
    let carried = comparison.carried.filter { replaced.unbegun.contains($0.key) }
    let waiting = Set(carried.values.flatMap { comparison.waitingVariants[$0.position] ?? [] }.map(\.position))
    replaced.unbegun = []
    run.phase = .replaced(replaced)
    leave(Set(carried.keys).union(comparison.carried.filter { waiting.contains($0.value.position) }.keys), outOf: run)
    handOver(carried.mapValues(\.position), of: run, replaced, to: new)
    guard case .replaced(var next) = new.phase else { return }
    next.unbegun.formUnion(carried.values.map(\.position))
    new.phase = .replaced(next)
    startUnbegun(of: new)
  }

  /// Has the run that replaces another start entries that were left to the other one.
  /// - Parameter places: Their places in the new run, by those in the old one.
  private func handOver(_ places: [Int: Int], of run: JobRun, _ replaced: JobRun.Replaced, to new: JobRun) {
    let number = run.number
    // Those included that the run before has left to this one since it was replaced.
    let known = scheduler.attempts(run: number).merging(replaced.attempts) { _, last in last }
    let attempts = places.compactMap { position, place in known[position].map { (place, $0) } }
    scheduler.keep(attempts: Dictionary(uniqueKeysWithValues: attempts), run: new.number)
    scheduler.handOverAges(places, from: number, to: new.number)
    scheduler.handOverPartials(places, from: number, to: new.number)
    do throws(EntryScheduler.IndexError) {
      let started = try scheduler.handOverSources(
        places, from: number, to: new.number, now: Clock.monotonicMilliseconds)
      start(Set(places.values).subtracting(started), of: new)
    } catch {
      indexFailed(error)
    }
  }

  /// Has entries start that were left to a run that was replaced.
  func start(_ positions: Set<Int>, of run: JobRun) {
    guard case .running = run.phase else { return }
    do throws(EntryScheduler.IndexError) {
      for position in scheduler.firstVariants(of: positions, run: run.number) {
        try scheduler.admit(position, of: run.number, now: Clock.monotonicMilliseconds)
      }
    } catch {
      indexFailed(error)
    }
  }
}
