import Imaging
import Ledger
import Model
import System

extension PhotoRecord {
  /// Links the downloaded source in staging, so that it is delivered before the result. What needs more than a free name is left
  /// to the delivery of the result: a copy of a source that others share, and whatever has the name.
  func stageOriginal(besides earlier: EarlierResults) {
    guard state == .downloaded, let source else { return }
    if let target = earlier.original(of: entry, sha256: source.sha256) {
      let delivery = Delivery(staged: "", target: target, bytes: source.bytes, sha256: source.sha256)
      return staged(EarlyOriginal(delivery, isDelivered: true))
    }
    let (staging, name) = (run.staging, run.staging.earlyOriginal(entry.position))
    guard !source.isShared, inherited == nil, let file = try? staging.open(staging.download(entry.position)),
      let format = (try? file.readStart(12)).flatMap({ ImageFormat.sniffed(from: $0) })
    else { return }
    let target = JobFolder.path(of: .original, entry.lineName, extension: format.fileExtension)
    guard earlier.folder.isFree(target), (try? staging.open().link(file.path, as: name)) == true else { return }
    let delivery = Delivery(
      staged: name, target: target, bytes: source.bytes, sha256: source.sha256, origin: Artifact.Kind.original.origin)
    staged(EarlyOriginal(delivery))
  }
}
