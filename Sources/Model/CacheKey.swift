import JSON
import System
import Transfer

/// Identifies a request: the SHA-256 of everything that can change the answer, secrets included.
package struct CacheKey: Sendable, Hashable {
  package let text: String

  /// - Parameters:
  ///   - key: The field `cache-key`, which replaces the URL within its scheme, userinfo, host and port; nil without it.
  ///   - files: What identifies the contents of the files of its form (`FormFiles.version`); nil without files.
  ///   - secrets: A digest of the secrets that a rule for the host adds.
  ///   - runID: The run, for a request that is sent once per run.
  package init(
    _ location: SourceLocation, _ request: SourceRequest = .plain, key: String? = nil, files: String? = nil,
    secrets: String? = nil, run runID: String? = nil
  ) {
    // URLs and keys contain no line breaks, and URLs no spaces.
    let source = key.map { location.scope(of: $0) } ?? location.requestText
    let more = request == .plain ? "" : "\n" + JSONValue.object(request.members).text
    text = MessageDigest.hexDigest(
      of: "\(request.method.rawValue) \(source)\(more)" + (secrets.map { "\nsecrets " + $0 } ?? "")
        + (files.map { "\nfiles " + $0 } ?? "") + (runID.map { "\n" + $0 } ?? ""))
  }
}
