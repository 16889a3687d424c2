import CCurl

/// A proxy, as `--proxy` and the environment name it.
package struct Proxy: Sendable, Equatable {
  /// As it was given. It may hold secrets.
  let url: String

  /// Parses `[SCHEME://][USER:PASSWORD@]HOST[:PORT]`; without a scheme it is http, without a port 1080, as curl has it.
  /// - Throws: `ParseError` for anything else.
  package init(parsing text: String) throws(ParseError) {
    let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
    let expected = "must be a proxy's URL (\(schemes.joined(separator: ", "))), such as http://proxy.example:3128"
    let hasScheme = text.range(of: "://") != nil
    guard let parsed = try? URLHandle(parsing: hasScheme ? text : "http://" + text),
      let scheme = parsed.part(CURLUPART_SCHEME), schemes.contains(scheme), parsed.part(CURLUPART_HOST) != nil
    else {
      throw ParseError(message: "\(expected), not \"\(redacted(hasScheme ? text : "http://" + text, valid: false))\"")
    }
    url = text
  }

  /// A text that names no proxy.
  package struct ParseError: Error, Sendable {
    /// For people; goes on after the name of what was set.
    package let message: String
  }
}
