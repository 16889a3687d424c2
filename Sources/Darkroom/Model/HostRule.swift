import Scheduling
import System
import Transfer

/// What the operator wants to be done otherwise at some hosts.
package struct HostRule: Sendable, Equatable {
  /// The hosts.
  package let pattern: HostPattern

  /// Downloads at once from each of them, 1 to 1024. Default: nil, as at any host.
  package var perHost: Int?

  /// The least time between the requests of two entries to the same host, in seconds. Default: nil, none.
  package var interval: Double?

  /// The file of header fields that are sent to them. Default: nil, none.
  package var headersFile: String?

  /// The file of user names and passwords, in the format of ftp's `.netrc`. Default: nil, none.
  package var netrcFile: String?

  /// What differs for their transfers; its header fields, user names and passwords come from the files. Default: nothing.
  package var settings = HostSettings()

  /// A digest of the secrets that are sent; nil without any. Answers to requests with others may differ.
  package var secrets: String?

  package init(_ pattern: HostPattern) { self.pattern = pattern }

  /// What the scheduler needs of it.
  var allowance: HostAllowance {
    HostAllowance(downloads: perHost, interval: Int(((interval ?? 0) * 1000).rounded(.up)))
  }
}
