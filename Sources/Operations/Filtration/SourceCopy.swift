import Imaging
import Model
import System

/// Makes the result of recipe `none` and format `keep` from a file: a copy of the source without the metadata that `--metadata`
/// removes.
struct SourceCopy {
  let files: SourceFiles
  let decoding: DecodingAccess
  let metadata: MetadataPolicy
  let limits: ImageLimits

  /// The name of the copy in staging.
  let target: String
  let isCancelled: () -> Bool

  /// Copies the source that this entry downloaded. If the cache has a link to it, the cache's check finds later changes.
  /// - Returns: No file when the download itself becomes the result.
  func ofOwn(_ file: OpenFile, _ source: PhotoRecord.Source) throws -> (LosslessCopy, OpenFile?) {
    let copy = try layout(of: file, size: source.bytes)
    return (copy, copy.isWholeFile ? nil : try write(copy, of: file))
  }

  /// Copies a source that the cache or another entry shares. The result is never a link to the shared file, since a
  /// change to one would change the other. The source (or the copy, if it contains the whole file) is compared with its
  /// digest, and the file must not change from reading its layout until then.
  func ofShared(_ file: OpenFile, _ source: PhotoRecord.Source) throws -> (LosslessCopy, OpenFile?) {
    let before = try file.status().identity
    let copy: LosslessCopy
    let copied: OpenFile
    do {
      copy = try layout(of: file, size: before.size)
      copied = try write(copy, of: file)
    } catch {
      // It may fail because the file was changed: that is checked first.
      if !isCancelled() { try files.check(file, source) }
      throw error
    }
    try files.check(copy.isWholeFile ? copied : file, source)
    let after = try file.status().identity
    guard before.size == after.size, before.modified == after.modified else { throw files.changed(source) }
    return (copy, copied)
  }

  /// Reads the layout of the file in this process, since no library of its format parses it, and a worker would take longer.
  private func layout(of file: OpenFile, size: Int) throws -> LosslessCopy {
    try decoding.recorded(files.record, isCancelled: isCancelled) {
      try LosslessCopy(
        of: file.descriptor, size: Int64(size), keeping: metadata, limits: limits, isCancelled: isCancelled)
    }
  }

  private func write(_ copy: LosslessCopy, of file: OpenFile) throws -> OpenFile {
    let target = try files.record.run.staging.create(target)
    if copy.isWholeFile {
      try file.copy(to: target, isCancelled: isCancelled)
      return target
    }
    for part in copy.parts {
      if isCancelled() { throw ImagingError.cancelled }
      switch part {
      case .range(let range):
        try file.copy(Int(range.lowerBound)..<Int(range.upperBound), to: target, isCancelled: isCancelled)
      case .bytes(let bytes): try bytes.withUnsafeBytes { try target.write($0) }
      case .zeros(let count): try writeZeros(count, to: target)
      }
    }
    return target
  }

  private func writeZeros(_ count: Int, to target: OpenFile) throws {
    let zeros = [UInt8](repeating: 0, count: min(count, 64 << 10))
    for start in stride(from: 0, to: count, by: zeros.count) {
      if isCancelled() { throw ImagingError.cancelled }
      try zeros.withUnsafeBytes { try target.write(UnsafeRawBufferPointer(rebasing: $0.prefix(count - start))) }
    }
  }
}
