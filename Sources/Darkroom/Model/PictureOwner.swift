/// Who is behind the pictures of a run. A worker that a picture has taken over sees no other's.
enum PictureOwner: Sendable, Equatable {
  /// The user whose file the manifest is.
  case user(Int)

  /// Nobody known but the run itself.
  case run(String)
}
