import Foundation
import System
import Transfer

/// A pattern for hosts: `example.org`, `*.example.org` (hosts beneath it at any depth, not the name itself) or `*`,
/// each with or without a port. Hosts are compared in their canonical form, see `SourceLocation.canonicalHost`.
package struct HostPattern: Sendable, Equatable, CustomStringConvertible {
  /// The pattern as written.
  package let description: String

  /// The pattern in its canonical form, without the port. `candidates` lists it for matching hosts.
  let name: String

  /// nil for any port.
  package let port: Int?

  package init(parsing text: String) throws(ParseError) {
    description = text
    if text.contains("://") { throw ParseError("must be a host, not a URL" + Self.suggestion(for: text)) }
    let (host, port) = try Self.split(text)
    self.port = port
    if host == "*" {
      name = host
      return
    }
    let isBeneath = host.hasPrefix("*.")
    let rest = isBeneath ? String(host.dropFirst(2)) : host
    let isWritten =
      !rest.isEmpty && rest.unicodeScalars.allSatisfy { !Self.delimiters.contains($0) && $0.value > 0x20 }
    guard isWritten, let canonical = SourceLocation.canonicalHost(of: rest.lowercased()) else {
      throw ParseError("must be HOST, *.HOST or *, with or without :PORT, and without a scheme or path")
    }
    guard canonical.hasPrefix("[") || !canonical.fields(".", omittingEmpty: false).contains("") else {
      throw ParseError("must have something before and after each dot")
    }
    guard !isBeneath || !Self.isAddress(canonical) else {
      throw ParseError("names an address, beneath which there are no hosts")
    }
    name = isBeneath ? "*." + canonical : canonical
  }

  /// The host of a URL, with its port if the URL names one.
  private static func suggestion(for url: String) -> String {
    guard let location = try? SourceLocation(parsing: url), let host = location.canonicalHost else { return "" }
    let port = location.port.flatMap { [80, 443].contains($0) ? nil : ":\($0)" } ?? ""
    return "; did you mean \"\(host)\(port)\"?"
  }

  private static let delimiters = Set("*/?#\\@%,".unicodeScalars)

  private static func split(_ text: String) throws(ParseError) -> (host: String, port: Int?) {
    let afterBracket = text.lastIndex(of: "]") ?? text.startIndex
    guard let colon = text[afterBracket...].lastIndex(of: ":") else { return (text, nil) }
    let host = String(text[..<colon])
    if !host.hasPrefix("["), host.contains(":") {
      throw ParseError("must have brackets around an IPv6 address, and no scheme or path")
    }
    guard let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
      throw ParseError("must have a port from 1 to 65535")
    }
    return (host, Int(port))
  }

  /// Whether a host is an IPv6 address or, since no domain's last label has only digits, an IPv4 address.
  private static func isAddress(_ host: String) -> Bool {
    let last = host.utf8.split(separator: UInt8(ascii: ".")).last
    return host.hasPrefix("[") || last?.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) == true
  }

  /// The names of the patterns that match a host, the longest first.
  /// - Parameter host: In its canonical form.
  static func candidates(_ host: String) -> [String] {
    var names = [host]
    if !isAddress(host) {
      var rest = host[...]
      while let dot = rest.firstIndex(of: ".") {
        rest = rest[rest.index(after: dot)...]
        names.append("*." + rest)
      }
    }
    names.append("*")
    return names
  }
}
