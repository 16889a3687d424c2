import CCurl
import Glibc
import System

/// The connection of one request: opens its socket if the address policy allows it, and detects bytes on it that belong
/// to no response.
struct RequestConnection {
  /// The URL of the request's proxy. `nil`: none. May contain secrets.
  let proxy: String?

  /// Whether libcurl must open a new connection.
  let isNew: Bool

  /// Whether the connection that libcurl chose has unexpected bytes; the request was not sent.
  private(set) var hasUnexpectedBytes = false

  private let scheme: SourceLocation.Scheme
  private let isLocalName: Bool
  private let easy: EasyHandle
  private let addressPolicy: AddressPolicy
  private let openConnections: OpenConnections
  private var endpoints: OpenConnections.Endpoints?
  /// The sockets that were opened for it.
  private var openedSockets: [curl_socket_t] = []
  private var refusedAddresses: [IPAddress] = []
  private var otherRefusal: String?
  private var hasAllowedAddress = false

  /// Why the last socket could not be opened (`errno`), when the process or the machine has no descriptors or memory left.
  /// Default: `nil`.
  private(set) var exhaustion: Int32?

  /// - Parameter isNew: Whether an open connection must not be reused. Default: `false`.
  init(
    to location: SourceLocation, isNew: Bool = false, easy: EasyHandle, configuration: TransferConfiguration,
    openConnections: OpenConnections
  ) {
    scheme = location.scheme
    isLocalName = location.isLocalName
    proxy = configuration.proxies.proxy(forScheme: scheme.rawValue, host: location.host)
    addressPolicy = configuration.addressPolicy
    self.isNew = isNew
    self.easy = easy
    self.openConnections = openConnections
  }

  /// Why the policy refuses all addresses of the host; `nil` when it allows one of them.
  var refusal: String? {
    hasAllowedAddress
      ? nil : addressPolicy.refusal(of: refusedAddresses, isLocal: isLocalName) ?? otherRefusal
  }

  /// Opens a socket for an address if the policy allows it or it is the proxy's; no packet is sent to other addresses.
  /// - Returns: The descriptor, or -1.
  mutating func openSocket(for target: UnsafePointer<curl_sockaddr>) -> curl_socket_t {
    let length = Int(target.pointee.addrlen)
    // The address is longer than its field's declared type, so it is read through the pointer to the structure.
    let bytes = UnsafeRawPointer(target) + (MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0)
    guard let address = IPAddress(bytes, length: length) else {
      otherRefusal = "an address of family \(target.pointee.family) is neither IPv4 nor IPv6"
      return -1
    }
    if proxy == nil, case .refused = addressPolicy.verdict(for: address) {
      refusedAddresses.append(address)
      return -1
    }
    hasAllowedAddress = true
    let type = target.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    let socket = Glibc.socket(target.pointee.family, type, target.pointee.protocol)
    exhaustion = socket < 0 && ErrorCause(errno: errno) == .exhaustion ? errno : nil
    openConnections.add(socket)
    openedSockets.append(socket)
    return socket
  }

  /// Whether the request may be sent over the connection that libcurl chose. If not, it needs a new one.
  mutating func maySendRequest(over endpoints: OpenConnections.Endpoints) -> Bool {
    self.endpoints = endpoints
    hasUnexpectedBytes = !openConnections.beginRequest(over: endpoints, opened: openedSockets, layers) && !isNew
    return !hasUnexpectedBytes
  }

  /// Whether bytes have arrived that libcurl has not read. `false` with HTTP/2: they may belong to other transfers.
  var hasUnreadBytes: Bool {
    guard let endpoints, !easy.isHTTP2 else { return false }
    return openConnections.hasUnreadBytes(over: endpoints, layers)
  }

  /// Records that the response has been received completely.
  func endRequest() {
    if let endpoints { openConnections.endRequest(over: endpoints, isMultiplexed: easy.isHTTP2) }
  }

  /// Whether the connection to the proxy is encrypted.
  var isProxyOverTLS: Bool { proxy.flatMap(schemeText)?.lowercased() == "https" }

  private var layers: ConnectionLayers {
    guard scheme == .https || isProxyOverTLS else { return .none }
    guard let session = easy.tlsSession else { return .unknown }
    return scheme == .https && isProxyOverTLS ? .tlsOverTLS(session) : .tls(session)
  }
}
