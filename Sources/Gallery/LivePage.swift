import Model
import System

/// The page of a live job, with the rows that were read for it.
struct LivePage {
  private var rows = RowOffsets()

  /// When the page may be written again, as `Clock.monotonicSeconds`.
  private var due = 0.0

  /// The time from the last write to the next, in seconds.
  private var interval = 0.0

  /// When the page was written last, as `Clock.monotonicSeconds`.
  private var written = 0.0
  private var last: JobPage.Live?

  /// Writes the page, if it is due and has changed.
  /// - Throws: `SystemError`.
  mutating func write(_ job: GalleryWriter.LiveJob) throws {
    let began = Clock.monotonicSeconds
    guard began >= due || job.live.isLast else { return }
    defer {
      interval = max(GalleryPages.spacing, GalleryPages.share * (Clock.monotonicSeconds - began))
      due = began + interval
    }
    let (folder, staging) = (try job.run.folder.open(), job.run.staging)
    guard try ExistingPage(in: folder).obstacle == nil else { return }
    let log = try folder.open(reading: Folder.name(of: job.run.folder.entriesLog))
    let hasChanged = try rows.update(from: log)
    guard hasChanged || job.live != last || began >= written + GalleryPages.heartbeat else { return }
    let name = staging.document("live.html")
    do {
      let page = try JobPage(
        to: staging.create(name), job: job.run.job, head: job.head(), live: job.live,
        interval: max(interval, GalleryPages.heartbeat), total: rows.counts.total, failed: rows.counts.failed)
      try rows.each(of: log) { (row, count) throws(SystemError) in try page.add(row, count) }
      try page.end()
      try staging.open().rename(name, to: folder, as: ExistingPage.name)
    } catch {
      staging.remove(name)
      throw error
    }
    (last, written) = (job.live, began)
  }
}
