import CPSL

/// The public suffix list (publicsuffix.org): the names beneath which anybody may register one, such as `co.uk` and `github.io`.
/// The newer one of libpsl's own and of the package `publicsuffix`.
package final class PublicSuffixList {
  private let list: OpaquePointer?

  package init() { list = psl_latest(nil) }

  deinit { psl_free(list) }

  /// The registrable domain of a host, a label and a public suffix: `example.co.uk` of `https://img.example.co.uk:8080`.
  /// - Parameter origin: As `SourceLocation.origin(of:)` returns it.
  /// - Returns: The name and port of an address and of a public suffix, and a text that is no origin.
  package func registrableDomain(of origin: String) -> String {
    let name = SourceLocation.hostName(of: origin) ?? origin
    guard let location = try? SourceLocation(origin: origin), location.literalAddress == nil,
      let host = location.canonicalHost
    else { return name }
    // The result is a part of the text that is passed.
    return host.withCString { psl_registrable_domain(list, $0).map { String(cString: $0) } } ?? name
  }
}
