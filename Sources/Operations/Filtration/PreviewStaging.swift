import Imaging
import Model
import System

/// Stages the preview of an entry's result. Errors only cost the preview.
struct PreviewStaging {
  let staging: Staging

  /// The position of the entry.
  let position: Int
  let name: String

  /// Stages a preview that a worker has made.
  /// - Parameters:
  ///   - bytes: Untrusted bytes, since the worker may be compromised.
  ///   - picture: The result.
  /// - Returns: nil unless the bytes are a preview of the right size.
  func stage(_ bytes: [UInt8], of picture: ImageInfo) -> Artifact? {
    let staged = staging.file(.preview, of: position)
    guard let scale = PreviewScale(of: picture), bytes.count <= PreviewScale.maxBytes, bytes.suffix(2) == [0xFF, 0xD9],
      let file = try? staging.create(staged)
    else { return nil }
    guard (try? bytes.withUnsafeBytes({ try file.write($0) })) != nil,
      let header = try? ImageInfo.probe(file.descriptor), scale.allows(header),
      let sha256 = try? MessageDigest.hexDigest(ofDescriptor: file.descriptor)
    else {
      staging.remove(staged)
      return nil
    }
    file.startWriting()
    return Artifact(
      .preview, file, staged: staged, target: JobFolder.path(of: .preview, name), bytes: bytes.count, sha256: sha256)
  }

  /// Stages a copy of the preview that another entry's filtration has made or reused.
  func copy(_ leader: PhotoRecord, of picture: ImageInfo) -> Artifact? {
    let live = leader.snapshot
    let found = live.reused?.derived[.preview].flatMap { try? leader.run.folder.open(file: $0) }
    guard let file = live.artifacts[.preview]?.file ?? found,
      let bytes = try? file.readStart(PreviewScale.maxBytes + 1)
    else { return nil }
    return stage(bytes, of: picture)
  }
}
