import CCurl
import Glibc
import System

/// The result of looking a host name up.
enum NameLookup: Sendable, Hashable {
  /// At least one, in the order in which to try them.
  case addresses([IPAddress])
  /// There is no host of this name, or it has no address.
  case notFound
  /// The resolver failed; the text is its reason.
  case failed(String)
  /// There were no descriptors, memory or threads for the lookup; the number is `errno`.
  case exhausted(Int32)

  /// Asks the system's resolver (`getaddrinfo`), which knows `/etc/hosts` and mDNS, too. Blocks for up to a minute.
  ///
  /// Not with `AI_ADDRCONFIG`: without a network it reports every name as unknown.
  init(system name: String) {
    var hints = addrinfo()
    hints.ai_family = Self.hasIPv6 ? AF_UNSPEC : AF_INET
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    // glibc reports a name as unknown, too, when it could not open a file or a socket.
    errno = 0
    let code = getaddrinfo(name, nil, &hints, &list)
    let systemError = errno
    defer { freeaddrinfo(list) }
    var addresses: [IPAddress] = []
    var next = code == 0 ? list : nil
    while let entry = next {
      if let address = IPAddress(entry.pointee.ai_addr, length: Int(entry.pointee.ai_addrlen)),
        !addresses.contains(address)
      {
        addresses.append(address)
      }
      next = entry.pointee.ai_next
    }
    self.init(code: code, systemError: systemError, addresses: addresses)
  }

  /// Interprets the result of `getaddrinfo`.
  /// - Parameter systemError: `errno`, which was 0 before; any when it succeeded. Default: 0.
  init(code: Int32, systemError: Int32 = 0, addresses: [IPAddress]) {
    // The number is EAGAIN when a server did not answer in time.
    let isExhaustion = systemError != EAGAIN && ErrorCause(errno: systemError) == .exhaustion
    switch code {
    case 0: self = addresses.isEmpty ? .notFound : .addresses(addresses)
    case EAI_MEMORY: self = .exhausted(ENOMEM)
    case _ where isExhaustion: self = .exhausted(systemError)
    case EAI_NONAME, Self.noData, Self.otherFamily: self = .notFound
    default: self = .failed(String(cString: gai_strerror(code)))
    }
  }

  /// `EAI_NODATA` and `EAI_ADDRFAMILY`, which glibc declares for GNU sources only: a name without addresses.
  private static let (noData, otherFamily): (Int32, Int32) = (-5, -9)

  /// Whether the system has IPv6; without it libcurl, too, requests only IPv4 addresses.
  private static let hasIPv6: Bool = {
    let probe = socket(AF_INET6, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard probe >= 0 else { return ErrorCause(errno: errno) == .exhaustion }
    close(probe)
    return true
  }()
}

extension SourceLocation {
  /// The name to resolve, in lower case and ASCII (RFC 5891), and the port. `nil` for files and for hosts that denote an
  /// address.
  var nameAndPort: (name: String, port: String)? {
    // Finds most hosts that are addresses without parsing the URL again.
    guard let host, !host.hasPrefix("["), IPAddress(host) == nil, literalAddress == nil,
      let url = try? URLHandle(parsing: requestText),
      let name = url.part(CURLUPART_HOST, flags: CURLU_PUNYCODE),
      let port = url.part(CURLUPART_PORT, flags: CURLU_DEFAULT_PORT)
    else { return nil }
    return (name.lowercased(), port)
  }
}
