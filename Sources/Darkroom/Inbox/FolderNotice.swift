/// What the kernel says of a name in a watched folder. A hint: the scan is the truth.
enum FolderNotice: Sendable, Equatable {
  /// It was renamed in, or closed by its writer.
  case complete(String)
  /// It appeared or is being written.
  case begun(String)
  /// Notices were lost.
  case lost
}
