import Imaging
import Model
import System

/// Stages the source of an entry for delivery beside its result (`--keep-originals`).
struct OriginalStaging {
  let files: SourceFiles
  let earlier: EarlierResults

  /// Stages the file that this entry downloaded, or a copy of a shared one.
  /// - Parameters:
  ///   - format: The source's format.
  ///   - whole: A file with the source, which is copied in any case. Default: nil.
  func stage(_ source: PhotoRecord.Source, _ format: ImageFormat, copying whole: OpenFile? = nil) throws -> Artifact {
    let record = files.record
    let staging = record.run.staging
    let target = JobFolder.path(of: .original, record.entry.lineName, extension: format.fileExtension)
    let name = staging.file(.original, of: record.entry.position)
    var original = Artifact(
      .original, nil, staged: name, target: target, bytes: source.bytes, sha256: source.sha256)
    let early = record.original
    original.isPlaced = early?.isDelivered == true || earlier.hasOriginal(target, sha256: source.sha256)
    // Another variant may have delivered it. Variants that are filtered at the same time stage the same file each.
    if !original.isPlaced, record.entry.variant != nil {
      original.isPlaced = (try? earlier.hasEqual(original.delivery, staging)) == true
    }
    if original.isPlaced {
      if early == nil { record.staged(EarlyOriginal(original.delivery, isDelivered: true)) }
      return original
    }
    let file: OpenFile
    if source.isShared || whole != nil {
      file = try staging.create(name)
      try (whole ?? files.open(source)).copy(to: file)
      try files.check(file, source)
    } else {
      let folder = try staging.open()
      try folder.rename(files.download, to: folder, as: name)
      file = try staging.open(name)
      try? file.makePublic()
    }
    file.startWriting()
    original.file = file
    return original
  }
}
