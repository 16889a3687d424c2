/// What a pass read and wrote.
package struct ImagePassResult: Sendable, Equatable {
  /// The picture that was read.
  package let source: ImageInfo
  /// The picture that was written.
  package let output: ImageInfo
}
