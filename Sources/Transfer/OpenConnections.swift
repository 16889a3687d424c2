import Glibc

/// The sockets of connections, by their local ports.
///
/// libcurl 7.88 neither says when more arrives than was announced, nor minds when something lies in the socket of a
/// connection that it uses again: it takes that for the answer. Sockets that libcurl has closed are found out when they
/// are looked at.
final class OpenConnections {
  private struct Connection {
    let socket: Int32
    /// Whether it is idle between requests of HTTP/1, when nothing may arrive.
    var hasAnswered = false
  }

  private var connections: [Int: Connection] = [:]
  /// Sockets that were not connected when they were added.
  private var opened: Set<Int32> = []

  /// Adds a socket that will be connected.
  func add(_ socket: Int32) { if socket >= 0 { opened.insert(socket) } }

  /// Takes down that a connection will be asked. Returns whether it may be: nothing has arrived since its last answer.
  func begin(port: Int, _ layers: ConnectionLayers) -> Bool {
    if let known = connections[port], Self.port(of: known.socket) == port {
      return !known.hasAnswered || !layers.hasUnreadBytes(in: known.socket)
    }
    for socket in opened {
      let local = Self.port(of: socket)
      if local == port { connections[port] = Connection(socket: socket) }
      if local == nil || local == port { opened.remove(socket) }
    }
    return true
  }

  /// Takes down that a connection has answered.
  func end(port: Int, isMultiplexed: Bool) {
    // In HTTP/2 either side may speak at any time.
    if isMultiplexed { connections[port] = nil } else { connections[port]?.hasAnswered = true }
  }

  /// Whether bytes have arrived on a connection that were not read.
  func hasUnreadBytes(port: Int, _ layers: ConnectionLayers) -> Bool {
    guard let connection = connections[port] else { return false }
    return layers.hasUnreadBytes(in: connection.socket)
  }

  /// The local port of an open socket (`getsockname`).
  private static func port(of socket: Int32) -> Int? {
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &address) { storage in
      let status = storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
      guard status == 0 else { return nil }
      // The port lies at the same place in both families.
      return storage.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        Int(UInt16(bigEndian: $0.pointee.sin_port))
      }
    }
  }
}
