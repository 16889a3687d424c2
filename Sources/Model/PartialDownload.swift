import Glibc
import Synchronization
import System
import Transfer

/// The beginning of a source whose download broke off. It is in staging until the entry's next try takes it, and
/// removed when the object is released.
package final class PartialDownload: Sendable {
  package let bytes: Int

  private let body: PartialBody
  private let staging: Staging

  /// The file's name in staging. It is unique, so that removing it never removes the file of a later download.
  private let name: String
  private let isTaken = Atomic(false)

  private static let count = Atomic(0)

  /// Renames the file of a download that broke off.
  /// - Parameter download: Its name in staging.
  /// - Returns: nil when no part of it can be used, or the file cannot be renamed.
  package init?(_ body: PartialBody, _ download: String, in staging: Staging) {
    guard let bytes = body.bytes else { return nil }
    (self.body, self.bytes, self.staging) = (body, bytes, staging)
    name = "\(download)-\(Self.count.wrappingAdd(1, ordering: .relaxed).newValue)"
    guard let folder = try? staging.open(), (try? folder.rename(download, to: folder, as: name)) != nil else {
      isTaken.store(true, ordering: .relaxed)
      return nil
    }
  }

  deinit { if !isTaken.load(ordering: .relaxed) { staging.remove(name) } }

  /// Renames the file to the entry's download, and opens it at its end. Must be called at most once.
  /// - Returns: nil when the file has changed.
  package func take(as download: String) -> (file: OpenFile, body: PartialBody)? {
    guard let folder = try? staging.open(), (try? folder.rename(name, to: folder, as: download)) != nil else {
      return nil
    }
    isTaken.store(true, ordering: .relaxed)
    guard let file = try? folder.open(updating: download), (try? file.status().size) == bytes,
      lseek(file.descriptor, 0, SEEK_END) == bytes
    else {
      staging.remove(download)
      return nil
    }
    return (file, body)
  }
}
