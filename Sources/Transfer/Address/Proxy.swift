import CCurl

/// A proxy, as `--proxy` and the environment name it.
package struct Proxy: Sendable, Equatable {
  /// As it was given. May hold secrets.
  let url: String

  /// Parses `[SCHEME://][USER:PASSWORD@]HOST[:PORT]`; without a scheme it is http, without a port 1080, as in curl.
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

  /// A text that is not a proxy's URL.
  package struct ParseError: Error, Sendable {
    /// For people; continues after the name of the option or variable.
    package let message: String
  }
}
