import Glibc

/// How many descriptors (files and connections) the process may have open: `RLIMIT_NOFILE` of `getrlimit(2)`.
package enum DescriptorLimit {
  /// The soft limit; 256 when it cannot be read.
  package static var current: Int { limit.map { Int(clamping: $0.rlim_cur) } ?? 256 }

  /// With fewer, the limits of what goes on at once leave none to spare; without any, libdispatch ends the process.
  package static let least = 64

  /// Raises the soft limit to the hard one, to 65536 at most. A limit that cannot be changed stays.
  package static func raise() {
    guard var limit else { return }
    limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65536))
    setrlimit(resource, &limit)
  }

  private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }

  private static var limit: rlimit? {
    var limit = rlimit()
    return getrlimit(resource, &limit) == 0 ? limit : nil
  }
}
