import JSON
import System
import Transfer

/// What makes two requests the same: the SHA-256 of all that changes the answer, secrets included.
struct CacheKey: Sendable, Hashable {
  let text: String

  /// - Parameter runID: The run, for a request that is made once in each.
  init(_ location: SourceLocation, _ request: SourceRequest = .plain, run runID: String? = nil) {
    // No line break is in the URL.
    let more = request == .plain ? "" : "\n" + JSONValue.object(request.members).text
    text = MessageDigest.hexDigest(
      of: "\(request.method.rawValue) \(location.requestText)\(more)" + (runID.map { "\n" + $0 } ?? ""))
  }
}
