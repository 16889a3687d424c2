import System

extension ReportHead {
  /// The newest report of a run that was neither rejected nor superseded: the one whose pictures are in the job's folder, while its
  /// newest manifest is a rejected one. Unreadable reports are skipped.
  /// - Parameter history: A job's `history`.
  package static func lastGood(in history: OpenFolder) -> (run: String, file: OpenFile, head: ReportHead)? {
    // The names of runs sort by time.
    for name in ((try? history.names()) ?? []).compactMap(\.text).filter(RunID.isMade).sorted(by: >) {
      guard let file = try? history.open(reading: name + "/report.json"), (try? file.status().kind) == .file,
        let head = try? ReportHead(of: file), let state = head.state, state != .rejected, state != .superseded
      else { continue }
      return (name, file, head)
    }
    return nil
  }
}
