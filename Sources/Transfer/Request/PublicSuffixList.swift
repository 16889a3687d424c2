import CPSL

/// The public suffix list (publicsuffix.org): the names beneath which anybody may register one, such as `co.uk` and `github.io`.
/// The newer one of libpsl's own and of the package `publicsuffix`.
package final class PublicSuffixList {
  private let list: OpaquePointer?

  package init() { list = psl_latest(nil) }

  deinit { psl_free(list) }

  /// The registrable domain of a host, a label and a public suffix: `example.co.uk` of `img.example.co.uk:8080`.
  /// - Parameter name: A host with or without a port, as `SourceLocation.hostName(of:)` returns it.
  /// - Returns: `name` for an address, for a public suffix, and for a text that is no host.
  package func registrableDomain(ofHostName name: String) -> String {
    guard let location = try? SourceLocation(parsing: "http://\(name)/"), location.literalAddress == nil,
      let host = location.canonicalHost
    else { return name }
    // The result is a part of the text that is passed.
    return host.withCString { psl_registrable_domain(list, $0).map { String(cString: $0) } } ?? name
  }
}
