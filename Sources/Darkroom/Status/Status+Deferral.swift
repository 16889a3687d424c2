import Manifests
import System

extension Status {
  /// The queued manifests that wait for a job with deferred entries, which may take as long as `--retry-for`, in words.
  package var waitsForDeferred: [String] {
    let deferring = Dictionary(
      jobs.filter { $0.deferred != nil }.map { ($0.job, $0) }, uniquingKeysWith: { first, _ in first })
    return queued.compactMap { file in
      guard let name = ManifestFileName(Folder.name(of: file))?.job, let job = deferring[name],
        let count = job.deferred
      else { return nil }
      let entries = count.of("deferred entry of the job has", "deferred entries of the job have")
      return "\(file) waits until \(entries) ended"
        + (job.deferred_until.map { "; the next is tried again at \($0)" } ?? "")
    }
  }
}
