/// A notice of the kernel about a name in a watched folder. A hint: the scan is the truth.
package enum FolderNotice: Sendable, Equatable {
  /// It was renamed in, or closed by its writer.
  case complete(FileName)
  /// It appeared or is being written.
  case begun(FileName)
  /// Notices were lost, or the folder itself was moved, removed or unmounted.
  case lost
}
