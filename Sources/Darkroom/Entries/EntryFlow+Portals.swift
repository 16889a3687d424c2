import Model
import Scheduling
import System
import Transfer

/// Captive portals: when hosts that had delivered pictures redirect to the same page, they count as unreachable.
extension EntryFlow {
  /// Treats the answer of a known captive portal as a failure of the requested host.
  /// - Returns: The failure; nil for any other answer.
  func takePortalsAnswer(to record: PhotoRecord) -> EntryFailure? {
    let live = record.snapshot
    guard live.usage.isOwn, live.source?.isCached == false, live.source?.contentType?.hasPrefix("image/") != true,
      scheduler.portals.isPortal(record.redirectTarget(live))
    else { return nil }
    var usage = live.usage
    (usage.contact, usage.failure) = (.failed(.broken), .network)
    record.usedHost(usage)
    return live.source.map { .portal(at: $0.finalURL) }
  }

  /// Records the result of an entry that was redirected: its target is a picture, or may be a portal.
  /// - Returns: Whether it is not known yet if the target is a portal.
  func checkRedirect(of record: PhotoRecord) -> Bool {
    let live = record.snapshot
    if live.state == .filtered, live.usage.isOwn {
      scheduler.delivered(record.id)
      scheduler.portals.delivered(record.redirectTarget(live))
    }
    guard live.failure?.code == .filter(.notAnImage), let target = record.redirectTarget(live) else { return false }
    switch scheduler.redirected(record.id, to: target, now: Clock.monotonicMilliseconds) {
    case .portal:
      record.replaceFailure(.portal(at: live.source?.finalURL ?? target))
      return false
    // The entry is tried again once.
    case .suspect: return live.attempts == scheduler.uncounted(record.id) + 1
    case .page: return false
    }
  }
}

extension PhotoRecord {
  /// The redirect target at another host, without query; nil when there was no such redirect.
  fileprivate func redirectTarget(_ live: Live) -> String? {
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
