import CCurl
import System

/// A URL to which notifications are posted. The operator gives it, so any address is allowed.
package struct Webhook: Sendable, Equatable {
  /// May contain secrets.
  let location: SourceLocation

  /// The key of signatures; nil for none.
  package var secret: String?

  /// - Throws: `ParseError` with a message that continues the option's name, without secrets.
  package init(parsing text: String) throws(ParseError) {
    let expected = "must be an http or https URL, such as https://hooks.example/darkroom"
    do throws(TransferError) {
      location = try SourceLocation(parsing: text)
    } catch  where error.code == .schemeNotAllowed {
      // Its message names the schemes of sources.
      throw ParseError("\(expected), not one with another scheme")
    } catch {
      throw ParseError("\(expected): \(error.message)")
    }
    guard location.scheme != .file else { throw ParseError("\(expected), not \"\(location.redacted)\"") }
  }

  /// Scheme, host and, if not the usual one, port: for messages. The rest of such a URL is often secret.
  package var origin: String {
    guard let url = try? URLHandle(parsing: location.requestText) else { return location.scheme.rawValue + ":" }
    let port = url.part(CURLUPART_PORT).map { ":" + $0 } ?? ""
    return "\(location.scheme)://\(location.host ?? "")\(port)"
  }

  /// The value of the header that lets a receiver check who has sent a body; nil without a secret.
  package func signature(of body: String) -> String? {
    secret.map { "sha256=" + MessageDigest.hmac(of: body, key: $0) }
  }
}
