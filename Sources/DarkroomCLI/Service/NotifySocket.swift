import Glibc

/// The socket for messages to the service manager: sd_notify(3). Messages that cannot be sent are dropped.
struct NotifySocket: @unchecked Sendable {  // the address is never changed
  private let descriptor: Int32
  private let address: sockaddr_un
  private let length: socklen_t

  /// - Parameter path: An absolute path, or an abstract name after `@`.
  /// - Returns: nil for another kind of address, which only newer service managers have.
  init?(_ path: String) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(path.utf8)
    guard let first = path.first, first == "/" || first == "@",
      bytes.count < MemoryLayout.size(ofValue: address.sun_path)
    else { return nil }
    if first == "@" { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    // A service manager that reads nothing must not hold up the program for long.
    var limit = timeval(tv_sec: 1, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    self.descriptor = descriptor
    self.address = address
    let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
    // An abstract name ends with the address, a path with a zero byte.
    length = socklen_t(offset + bytes.count + (first == "/" ? 1 : 0))
  }

  func send(_ text: String) {
    let bytes = Array(text.utf8)
    withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        _ = sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, length)
      }
    }
  }
}
