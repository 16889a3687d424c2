import Glibc

/// The number of files and connections that the process may have open.
enum DescriptorLimit {
  /// Raises the soft limit as far as the hard one allows, to 65536 at most.
  static func raise() {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return }
    limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65536))
    setrlimit(resource, &limit)
  }
}
