import Gallery
import Inbox
import Model
import System

/// Where the status of a running process goes: `status.json`, the file of `--metrics`, the pages, and the caller. Used on the
/// thread of `Darkroom`.
final class StatusOutputs {
  let metrics: MetricsFile
  private let file: StatusWriter
  private let gallery: GalleryFeed

  /// Called with each new status while jobs are processed. Default: does nothing.
  var publish: (Status) -> Void = { _ in }

  /// As in `StatusWriter`.
  var interval: Double {
    get { file.interval }
    set { file.interval = newValue }
  }

  init(_ file: StatusWriter, _ metrics: MetricsFile, _ gallery: GalleryFeed) {
    (self.file, self.metrics, self.gallery) = (file, metrics, gallery)
  }

  /// The writer of pages; nil while none are written.
  var galleryWriter: GalleryWriter? { gallery.writer }

  /// Turns the writing of pages on or off. Live pages that are not written any more would reload themselves forever: they are
  /// closed.
  func configure(_ configuration: Configuration, _ jobs: LiveJobs, now: Double) {
    metrics.path = configuration.metrics
    if configuration.gallery == .off { closePages(jobs, now: now) }
    gallery.configure(configuration.gallery)
  }

  /// Writes the status and the metrics if they have changed.
  /// - Parameters: As in `StatusWriter.write`.
  /// - Returns: Why the file of `--metrics` cannot be written; nil also when that is the same as before.
  func write(
    _ jobs: LiveJobs, _ notices: Status.Notices?, ignored: [InboxScan.Ignored], open: Set<FileName>,
    inboxError: String?, now: Double,
    isLast: Bool = false, isLockWaitOver: Bool = false
  ) -> SystemError? {
    let isNew = file.write(
      jobs, notices, ignored: ignored, open: open, inboxError: inboxError, now: now, isLast: isLast,
      isLockWaitOver: isLockWaitOver)
    guard let last = file.last else { return nil }
    if isNew, !isLast { publish(last) }
    return metrics.write(last, now: now, isLast: isLast)
  }

  /// Writes the pages that have changed.
  func updatePages(_ jobs: LiveJobs, now: Double) { gallery.update(jobs, file.last, now: now) }

  /// Writes the pages for the time while no process runs, or none are written.
  func closePages(_ jobs: LiveJobs, now: Double) { gallery.close(jobs, file.last, now: now) }

  /// When something must be written if nothing else happens, as `Clock.monotonicSeconds`; nil when nothing must.
  func due(_ jobs: LiveJobs) -> Double? { [file.due, metrics.due, gallery.due(jobs)].compactMap { $0 }.min() }
}
