import JSON
import System
import Transfer

/// Identifies a request: the SHA-256 of everything that can change the answer, secrets included.
package struct CacheKey: Sendable, Hashable {
  package let text: String

  /// Whether the request consists of its URL alone, which reports show, so that they identify it.
  let isShownByURL: Bool

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
    // Reports show no userinfo. An `@` elsewhere is rare.
    isShownByURL =
      request == .plain && [key, files, secrets, runID].allSatisfy { $0 == nil }
      && !source.utf8.contains(UInt8(ascii: "@"))
    let more = request == .plain ? "" : "\n" + JSONValue.object(request.members).text
    text = MessageDigest.hexDigest(
      of: "\(request.method.rawValue) \(source)\(more)" + (secrets.map { "\nsecrets " + $0 } ?? "")
        + (files.map { "\nfiles " + $0 } ?? "") + (runID.map { "\n" + $0 } ?? ""))
  }
}
