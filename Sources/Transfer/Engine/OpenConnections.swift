import CCrypto
import Glibc

/// The open sockets of libcurl's connections, by their endpoints. Used on the engine's thread only.
///
/// libcurl 7.88 does not report bytes beyond the announced length, and reads bytes that wait in the socket of a reused
/// connection as the next response; so sockets are checked here. There is at most one element for each open socket: libcurl
/// reports each that it opens (`CURLOPT_OPENSOCKETFUNCTION`) and closes
/// (`CURLOPT_CLOSESOCKETFUNCTION`).
final class OpenConnections {
  /// Identifies a TCP connection: connections to different hosts may share a local port.
  struct Endpoints: Hashable {
    let localPort: Int
    let remoteAddress: IPAddress?
    let remotePort: Int
  }

  private struct Connection {
    let socket: Int32
    /// Whether the connection is between two requests of HTTP/1, when no data may arrive.
    var isIdle = false
  }

  /// Connections over which a request was sent.
  private var connections: [Endpoints: Connection] = [:]
  /// The endpoints of these connections, by socket.
  private var endpoints: [Int32: Endpoints] = [:]
  /// Sockets over which no request has been sent.
  private var unused: Set<Int32> = []

  /// All sockets.
  private var sockets: Set<Int32> = []

  var count: Int { sockets.count }

  /// Adds a socket that is about to be connected; does nothing when it is negative.
  func add(_ socket: Int32) {
    guard socket >= 0 else { return }
    remove(socket)
    sockets.insert(socket)
    unused.insert(socket)
  }

  /// Removes a socket and closes it (`close`).
  func close(_ socket: Int32) -> Int32 {
    remove(socket)
    return Glibc.close(socket)
  }

  private func remove(_ socket: Int32) {
    sockets.remove(socket)
    unused.remove(socket)
    if let known = endpoints.removeValue(forKey: socket) { connections[known] = nil }
  }

  /// Records that a request is about to be sent over a connection.
  /// - Parameter opened: The sockets that were opened for it, of which it is likely to be one. With many that are being connected
  ///   it would take long to ask the endpoints of all.
  /// - Returns: Whether it may be sent: no data has arrived since the last response.
  func beginRequest(over ends: Endpoints, opened: [Int32], _ layers: ConnectionLayers) -> Bool {
    if let known = connections[ends] { return !known.isIdle || !layers.hasUnreadBytes(in: known.socket) }
    let isIts = { Endpoints(of: $0) == ends }
    if let socket = opened.last(where: { unused.contains($0) && isIts($0) }) ?? unused.first(where: isIts) {
      unused.remove(socket)
      connections[ends] = Connection(socket: socket)
      endpoints[socket] = ends
    }
    return true
  }

  /// Records that a response has been received completely.
  func endRequest(over ends: Endpoints, isMultiplexed: Bool) {
    if !isMultiplexed {
      connections[ends]?.isIdle = true
    } else if let connection = connections.removeValue(forKey: ends) {
      // With HTTP/2 either side may send at any time.
      endpoints[connection.socket] = nil
    }
  }

  /// Whether unread bytes have arrived on a connection.
  func hasUnreadBytes(over ends: Endpoints, _ layers: ConnectionLayers) -> Bool {
    guard let connection = connections[ends] else { return false }
    return layers.hasUnreadBytes(in: connection.socket)
  }
}

extension OpenConnections.Endpoints {
  /// The endpoints of a connected socket (`getsockname`, `getpeername`); `nil` for any other.
  init?(of socket: Int32) {
    guard let (_, localPort) = Self.address(socket, getsockname), let remote = Self.address(socket, getpeername)
    else { return nil }
    self.init(localPort: localPort, remoteAddress: remote.address, remotePort: remote.port)
  }

  private static func address(
    _ socket: Int32, _ read: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
  ) -> (address: IPAddress?, port: Int)? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { storage in
      let status = storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { read(socket, $0, &length) }
      guard status == 0 else { return nil }
      // Both families have the port at the same offset.
      let port = storage.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_port.bigEndian }
      return (IPAddress(storage, length: Int(length)), Int(port))
    }
  }
}

/// The layers between HTTP and the socket of a connection; the handles are OpenSSL's (`SSL *`).
enum ConnectionLayers {
  case none
  case tls(OpaquePointer)
  /// A TLS session inside the TLS session with a proxy.
  case tlsOverTLS(OpaquePointer)
  /// TLS by another library.
  case unknown

  /// Whether bytes have arrived that HTTP has not read. Session tickets and close notifications do not count. With TLS over TLS
  /// only decrypted bytes are visible, with an unknown TLS library none.
  func hasUnreadBytes(in socket: Int32) -> Bool {
    switch self {
    case .none:
      var byte: UInt8 = 0
      return recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    case .tls(let ssl): return SSL_pending(ssl) > 0 || Self.peek(ssl, socket)
    case .tlsOverTLS(let ssl): return SSL_pending(ssl) > 0
    case .unknown: return false
    }
  }

  /// Reads ahead in a session up to application data (`SSL_peek`), which stays in the session.
  ///
  /// The session gets a plain BIO of the socket in the meantime: libcurl's BIO and its trace callback can only be used
  /// while libcurl reads for a transfer.
  private static func peek(_ ssl: OpaquePointer, _ socket: Int32) -> Bool {
    guard let reading = SSL_get_rbio(ssl), let writing = SSL_get_wbio(ssl),
      let plain = BIO_new_socket(socket, BIO_NOCLOSE)
    else { return false }
    // The session releases its BIOs as soon as it is given others.
    for end in [reading, writing, plain] { BIO_up_ref(end) }
    SSL_set0_rbio(ssl, plain)
    SSL_set0_wbio(ssl, plain)
    SSL_set_msg_callback(ssl, nil)  // libcurl's, which traces TLS messages; they are not used
    defer {
      SSL_set0_rbio(ssl, reading)
      SSL_set0_wbio(ssl, writing)
      ERR_clear_error()
    }
    ERR_clear_error()
    var byte: UInt8 = 0
    return SSL_peek(ssl, &byte, 1) > 0
  }
}
