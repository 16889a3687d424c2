import Imaging

/// What somebody meant by a name that there is not, among so many that nobody wants them all listed.
enum Suggestion {
  /// A message such as `unknown option "--filter"; did you mean "--filters"?`
  /// - Parameter prefix: What all names begin with. It tells nothing, so it does not count for how near a name is.
  static func unknown(_ what: String, _ name: String, prefix: String = "", among known: [String]) -> String {
    let nearest = NearestName.nearest(
      to: String(name.dropFirst(prefix.count)), among: known.map { String($0.dropFirst(prefix.count)) })
    return "unknown \(what) \"\(name)\"" + (nearest.map { "; did you mean \"\(prefix)\($0)\"?" } ?? "")
  }
}
