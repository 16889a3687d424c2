import Model
import Scheduling
import System
import Transfer

/// Captive portals: hosts that had delivered pictures, and now redirect to one place that is none, cannot be reached.
extension EntryFlow {
  /// Takes the answer of a captive portal that is known for a failure of the host that was asked.
  /// - Returns: The failure. Default: nil, it was no such answer.
  func takePortalsAnswer(to record: PhotoRecord) -> EntryFailure? {
    let live = record.snapshot
    guard live.usage.isOwn, live.source?.isCached == false, live.source?.contentType?.hasPrefix("image/") != true,
      scheduler.portals.isPortal(record.place(live))
    else { return nil }
    var usage = live.usage
    (usage.contact, usage.failure) = (.failed(.broken), .network)
    record.usedHost(usage)
    return live.source.map { .portal(at: $0.finalURL) }
  }

  /// Takes what an entry that was redirected came to: the place is a picture, or else it may be a portal.
  /// - Returns: Whether it is not known yet what the place is.
  func checkRedirect(of record: PhotoRecord) -> Bool {
    let live = record.snapshot
    if live.state == .filtered, live.usage.isOwn {
      scheduler.delivered(record.id)
      scheduler.portals.delivered(record.place(live))
    }
    guard live.failure?.code == .filter(.notAnImage), let place = record.place(live) else { return false }
    switch scheduler.redirected(record.id, to: place, now: Clock.monotonicMilliseconds) {
    case .portal:
      record.replaceFailure(.portal(at: live.source?.finalURL ?? place))
      return false
    // It is tried again once.
    case .suspect: return live.attempts == scheduler.uncounted(record.id) + 1
    case .page: return false
    }
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
