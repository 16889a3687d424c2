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
    for index in inProgress.values.indices {
      let chain = inProgress.values[index]
      guard chain.isDownloading, let download = chain.operations?.download, download.isExecuting,
        !download.progress.isLimited
      else { continue }
      let progress = download.progress
      inProgress.values[index].pace.received(progress.bytes, now: progress.flowTime(now: now), limit: limit)
      let isSlow = inProgress.values[index].pace.isSlow
      if isSlow, !chain.pace.isSlow { download.leaveSlot() }
      if isSlow || progress.isBehindSlow, !chain.isSlow { found.append(setSlow(index)) }
    }
    for index in inProgress.values.indices {
      let chain = inProgress.values[index]
      guard chain.isDownloading, !chain.isSlow, let leader = chain.operations?.download.leader, isSlow(leader) else {
        continue
      }
      found.append(setSlow(index))
    }
    return found
  }

  private func setSlow(_ index: Dictionary<PhotoRecord.ID, Chain>.Values.Index) -> PhotoRecord {
    room.slow.began()
    inProgress.values[index].isSlow = true
    return inProgress.values[index].record
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
