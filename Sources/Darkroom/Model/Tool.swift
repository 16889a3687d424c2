/// The program, as reports name it.
enum Tool {
  static let name = "darkroom"
  static let version = "0.1.0"
}
