/// Decides when the inbox is looked at again: when the kernel has told of something, and every so often. Looking at a
/// hundred thousand files takes a while, so looks may take a tenth of the time at most; only what happens to a lock is
/// looked at at once.
struct LookSchedule {
  private var hasNotice = false
  private var hasUrgentNotice = true
  private var earliest = 0.0
  private var latest = 0.0

  /// Takes in what the kernel has told.
  mutating func note(_ notices: [FolderNotice]) {
    if notices.isEmpty { return }
    hasNotice = true
    hasUrgentNotice = hasUrgentNotice || notices.contains(where: \.isAboutLock)
  }

  /// The next look is due at once.
  mutating func hurry() { hasUrgentNotice = true }

  /// When the next look is due, in seconds of a clock that never jumps.
  var due: Double { hasUrgentNotice ? 0 : hasNotice ? earliest : latest }

  /// Takes in that a look was taken.
  /// - Parameter interval: The time after which the inbox is looked at without a notice.
  mutating func looked(from began: Double, to ended: Double, interval: Double) {
    hasNotice = false
    hasUrgentNotice = false
    earliest = ended + 9 * (ended - began)
    latest = max(began + interval, earliest)
  }
}

extension FolderNotice {
  fileprivate var isAboutLock: Bool {
    switch self {
    case .complete(let name), .begun(let name): InboxFile(named: FileName(name)) == .lock
    // Notices are lost in a flood, which looks one after another would make worse.
    case .lost: false
    }
  }
}
