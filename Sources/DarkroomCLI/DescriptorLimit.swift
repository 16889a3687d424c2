import Glibc

/// The number of files and connections that the process may have open.
enum DescriptorLimit {
  /// How many downloads at once leave room for everything else: each has a file and a connection, and connections that
  /// idle are kept. A quarter of the soft limit.
  static var downloads: Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
    return Int(clamping: max(1, limit.rlim_cur / 4))
  }

  /// Raises the soft limit as far as the hard one allows, to 65536 at most.
  static func raise() {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return }
    limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65536))
    setrlimit(resource, &limit)
  }
}
