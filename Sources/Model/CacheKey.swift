import JSON
import System
import Transfer

/// What makes two requests the same: the SHA-256 of all that changes the answer, secrets included.
package struct CacheKey: Sendable, Hashable {
  package let text: String

  /// - Parameters:
  ///   - key: What stands for the URL, within its scheme, userinfo, host and port; nil for the URL itself.
  ///   - secrets: A digest of what is sent besides, by a rule for the host.
  ///   - runID: The run, for a request that is made once in each.
  package init(
    _ location: SourceLocation, _ request: SourceRequest = .plain, key: String? = nil, secrets: String? = nil,
    run runID: String? = nil
  ) {
    // No line break is in a URL or a key, and no space in a URL.
    let source = key.map { location.scope(of: $0) } ?? location.requestText
    let more = request == .plain ? "" : "\n" + JSONValue.object(request.members).text
    text = MessageDigest.hexDigest(
      of: "\(request.method.rawValue) \(source)\(more)" + (secrets.map { "\nsecrets " + $0 } ?? "")
        + (runID.map { "\n" + $0 } ?? ""))
  }
}
