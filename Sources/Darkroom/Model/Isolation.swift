/// Where pictures are decoded.
package enum Isolation: String, CaseIterable, Sendable {
  /// In worker processes, which the kernel confines.
  case process
  /// In the program itself: whoever sends a picture that gets hold of a decoder has got hold of the program.
  case none
}
