import Scheduling
import System
import Transfer

/// Captive portals: hosts that had delivered pictures, and now redirect to one place that is none, cannot be reached.
extension LiveJobs {
  /// Takes the answer of a captive portal that is known for a failure of the host that was asked.
  /// - Returns: The failure. Default: nil, it was no such answer.
  func takePortalsAnswer(to record: PhotoRecord) -> EntryFailure? {
    let live = record.snapshot
    guard live.usage.isOwn, scheduler.portals.isPortal(record.place(live)) else { return nil }
    var usage = live.usage
    usage.contact = .failed(.broken)
    record.usedHost(usage)
    return live.source.map { .portal(at: $0.finalURL) }
  }

  /// Takes what an entry that was redirected came to: the place is a picture, or else it may be a portal.
  func checkRedirect(of record: PhotoRecord, _ backoff: Backoff) {
    let live = record.snapshot
    if live.state == .filtered, live.usage.isOwn { return delivered(record, live) }
    guard let failure = live.failure, failure.code == .filter(.notAnImage), let place = record.place(live) else {
      return
    }
    let now = Clock.monotonicMilliseconds
    switch scheduler.redirected(record.id, to: place, now: now) {
    case .portal: record.replaceFailure(.portal(at: live.source?.finalURL ?? place))
    case .suspect where backoff.retries > 0 && live.attempts == scheduler.uncounted(record.id) + 1:
      var failure = failure
      failure.disposition = .retry(after: Double(CaptivePortals.suspicionTime) / 1000)
      record.replaceFailure(failure)
    case .suspect, .page: break
    }
  }

  private func delivered(_ record: PhotoRecord, _ live: PhotoRecord.Live) {
    scheduler.delivered(record.id)
    scheduler.portals.delivered(record.place(live))
  }
}

extension PhotoRecord {
  /// The place at another host to which it was redirected, without query. Default: nil, it was not.
  fileprivate func place(_ live: Live) -> String? {
    guard let url = live.source?.finalURL, url != self.url, let host = SourceLocation.hostName(of: url),
      host != SourceLocation.hostName(of: self.url)
    else { return nil }
    return String(url.prefix { $0 != "?" })
  }
}

extension EntryFailure {
  fileprivate static func portal(at url: String) -> EntryFailure {
    EntryFailure(
      code: .download(.network), message: "redirected to \(url), which is no picture, as other hosts are, too",
      finalURL: url, disposition: .retry(after: nil), hostFailure: .broken)
  }
}
