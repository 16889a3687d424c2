import System

/// The lines of a progress display: a bar with counts, rates and the time left, the live jobs, pauses, and hosts on hold. Parts
/// that do not fit are left out, from the end of each line and of the list of jobs.
enum ProgressDisplay {
  /// The most lines, on a terminal of any height.
  static let maxLines = 12

  /// The most jobs with lines of their own.
  static let maxJobs = 5

  private static let maxPauses = 2

  /// - Returns: Lines that are narrower than the terminal, and fewer than it has rows.
  static func lines(_ snapshot: ProgressSnapshot, _ size: Terminal.Size) -> [StyledText] {
    let width = size.columns - 1
    var room = min(size.rows - 1, maxLines)
    guard width > 0, room > 0 else { return [] }
    func take(_ lines: [StyledText], atMost limit: Int = .max) -> [StyledText] {
      let taken = Array(lines.prefix(min(room, limit)))
      room -= taken.count
      return taken
    }
    let (head, namesJob) = head(snapshot, width)
    // In the order of what matters most.
    let first = take(head, atMost: 1)
    let pauses = take(snapshot.pauses.map { StyledText("paused: " + $0.visible, .attention) }, atMost: maxPauses)
    let second = take(Array(head.dropFirst()))
    let held = take(held(snapshot, width))
    let noAnswer = snapshot.closed.prefix(hostLimit).map(\.visible)
    let closed = take(list("no answer: ", noAnswer, of: snapshot.closed.count, width))
    let jobs = namesJob ? [] : jobs(snapshot, width, limit: min(room, maxJobs))
    return (first + second + jobs + pauses + held + closed).map { $0.cut(toColumns: width) }
  }

  // MARK: All jobs

  /// One line, or two.
  /// - Returns: Also whether they name the only job, so that it needs no line of its own.
  private static func head(_ snapshot: ProgressSnapshot, _ width: Int) -> ([StyledText], namesJob: Bool) {
    let only = snapshot.jobs.count == 1 ? snapshot.jobs.first : nil
    if let only, snapshot.total == 0 {
      return ([StyledText(only.name.visible, .bold) + ": " + (only.note ?? "no entries")], true)
    }
    let counts = Self.counts(snapshot, note: only?.note)
    let rates = Self.rates(snapshot)
    let name = only.map { $0.name.visible } ?? snapshot.jobs.count.of("job", "jobs")
    let label = StyledText(name.cut(toColumns: max(8, width / 4)), .bold) + " "
    let all = (counts + rates).joined(separator: ", ")
    if label.columns + all.columns + minBar + 1 <= width {
      return ([label + bar(snapshot, width - label.columns - all.columns - 1) + " " + all], only != nil)
    }
    let second = rates.isEmpty ? [] : [fitting(rates, width - 2, indent: "  ")]
    // Failures matter more than a bar.
    let least = counts.prefix(snapshot.failed > 0 ? 2 : 1).joined(separator: ", ").columns
    for start in [label, StyledText()] {
      let room = width - start.columns
      guard least + minBar + 1 <= room else { continue }
      let text = fitting(counts, room - minBar - 1)
      return ([start + bar(snapshot, room - text.columns - 1) + " " + text] + second, only != nil && start == label)
    }
    return ([fitting(counts, width)] + second, false)
  }

  private static func counts(_ snapshot: ProgressSnapshot, note: String?) -> [StyledText] {
    var parts = [StyledText("\(snapshot.ended)/\(snapshot.total)")]
    if snapshot.failed > 0 { parts.append(StyledText("\(snapshot.failed) failed", .bad)) }
    if snapshot.total > 0 { parts.append(StyledText("\(100 * snapshot.ended / snapshot.total) %")) }
    if snapshot.deferred > 0 { parts.append(StyledText("\(snapshot.deferred) deferred", .attention)) }
    if snapshot.isStopping { parts.append(StyledText("stopping", .attention)) }
    if let note { parts.append(StyledText(note)) }
    return parts
  }

  private static func rates(_ snapshot: ProgressSnapshot) -> [StyledText] {
    var parts: [StyledText] = []
    if let rate = snapshot.rate { parts.append(StyledText(rate.rateText)) }
    if let left = snapshot.secondsLeft {
      parts.append(StyledText(left.clockText + " left"))
    } else if snapshot.elapsed >= 1 {
      parts.append(StyledText(snapshot.elapsed.clockText + " so far"))
    }
    if let bytes = snapshot.byteRate { parts.append(StyledText(bytes.byteRateText)) }
    return parts
  }

  /// As many of the parts as fit, from the first on; at least the first, cut.
  private static func fitting(_ parts: [StyledText], _ width: Int, indent: String = "") -> StyledText {
    var count = parts.count
    while count > 1, parts.prefix(count).joined(separator: ", ").columns > width { count -= 1 }
    return StyledText(indent) + parts.prefix(count).joined(separator: ", ")
  }

  private static let minBar = 10
  private static let maxBar = 40

  private static func bar(_ snapshot: ProgressSnapshot, _ columns: Int) -> StyledText {
    let inner = min(columns, maxBar) - 2
    let done = snapshot.total > 0 ? min(inner, inner * snapshot.ended / snapshot.total) : 0
    let style: StyledText.Style = snapshot.pauses.isEmpty ? .good : .attention
    let tip = done > 0 && done < inner ? ">" : ""
    let arrow = String(repeating: "=", count: done - tip.count) + tip
    return StyledText("[") + StyledText(arrow, style) + StyledText(String(repeating: " ", count: inner - done) + "]")
  }

  // MARK: Jobs and hosts

  private static func jobs(_ snapshot: ProgressSnapshot, _ width: Int, limit: Int) -> [StyledText] {
    guard limit > 0 else { return [] }
    let isAll = snapshot.jobs.count <= limit
    let shown = snapshot.jobs.prefix(isAll ? limit : max(1, limit - 1))
    let names = shown.map { "  " + $0.name.visible }
    let column = min(names.map(\.columns).max() ?? 0, max(10, width / 3))
    var lines = zip(names, shown).map { name, job in
      let text = fitting(parts(job), max(width - column - 2, 0))
      // Numbers matter more than the end of a name.
      let room = max(8, min(column, width - text.columns - 2))
      return StyledText(name.cut(toColumns: room).filled(toColumns: min(room, column))) + "  " + text
    }
    if !isAll, limit > 1 {
      let more = snapshot.jobs.count - shown.count
      lines.append(StyledText("  and \(more.of("more job", "more jobs"))", .dim))
    }
    return lines
  }

  private static func parts(_ job: ProgressSnapshot.Job) -> [StyledText] {
    var parts: [StyledText] = []
    if let total = job.total {
      parts.append(StyledText("\(job.ended)/\(total)"))
      if job.failed > 0 { parts.append(StyledText("\(job.failed) failed", .bad)) }
    }
    if let note = job.note { parts.append(StyledText(note)) }
    return parts
  }

  private static func held(_ snapshot: ProgressSnapshot, _ width: Int) -> [StyledText] {
    let hosts = snapshot.held.prefix(Self.hostLimit).map { host in
      "\(host.host.visible) \(host.secondsLeft.rounded(.up).clockText)"
    }
    return list("on hold: ", hosts, of: snapshot.held.count, width)
  }

  /// More hosts do not fit any terminal.
  private static let hostLimit = 20

  /// As many of the texts as fit, at least one, and the number of the others.
  private static func list(_ title: String, _ texts: [String], of total: Int, _ width: Int) -> [StyledText] {
    guard !texts.isEmpty else { return [] }
    var count = texts.count
    func line() -> String {
      let more = total - count
      return title + texts.prefix(count).joined(separator: ", ") + (more > 0 ? ", and \(more) more" : "")
    }
    while count > 1, line().columns > width { count -= 1 }
    return [StyledText(line(), .attention)]
  }
}
