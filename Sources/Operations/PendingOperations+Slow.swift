import Model
import Scheduling
import System

/// Downloads that are too slow.
extension PendingOperations {
  /// Whether the download of an entry is too slow.
  package func isSlow(_ id: PhotoRecord.ID) -> Bool { inProgress[id]?.isSlow == true }

  /// Finds downloads that have been too slow for a while, when a check is due. Only time in which bytes could arrive
  /// counts. Downloads that wait for slow ones, for the same request or for a slot of their host, are slow too.
  /// - Returns: The downloads that became slow since the last call.
  package func findSlowDownloads(now: Int) -> [PhotoRecord] {
    guard let limit = room.beginPaceCheck(now: now) else { return [] }
    var found: [PhotoRecord] = []
    for chain in inProgress.values {
      guard chain.isDownloading, let download = chain.operations?.download, download.isExecuting,
        !download.progress.isLimited
      else { continue }
      let (progress, wasSlow) = (download.progress, chain.pace.isSlow)
      chain.pace.received(progress.bytes, now: progress.flowTime(now: now), limit: limit)
      if chain.pace.isSlow, !wasSlow { download.leaveSlot() }
      if chain.pace.isSlow || progress.isBehindSlow, !chain.isSlow { found.append(setSlow(chain)) }
    }
    for chain in inProgress.values {
      guard chain.isDownloading, !chain.isSlow, let leader = chain.operations?.download.leader, isSlow(leader) else {
        continue
      }
      found.append(setSlow(chain))
    }
    return found
  }

  private func setSlow(_ chain: Chain) -> PhotoRecord {
    room.slow.began()
    chain.isSlow = true
    return chain.record
  }

  /// Measures the speed of a successful download.
  package func measureSpeed(_ id: PhotoRecord.ID, bytes: Int) {
    let now = Clock.monotonicMilliseconds
    guard let progress = inProgress[id]?.operations?.download.progress else { return }
    room.slow.succeeded(bytes: bytes, milliseconds: progress.flowTime(now: now), now: now)
  }
}

extension Configuration {
  /// The speed below which downloads give up their slots.
  var slowLimit: DownloadPace.Limit {
    DownloadPace.Limit(bytesPerSecond: 10 * min(transfer.lowSpeed, 1 << 40), period: max(1, Int(slowAfter * 1000)))
  }
}
