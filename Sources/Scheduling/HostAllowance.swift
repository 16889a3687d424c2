/// What the operator allows at a host, besides what the host itself allows (see `Throttle`).
package struct HostAllowance: Equatable, Sendable {
  /// Downloads at once. Default: nil, as many as at any host.
  package var downloads: Int?

  /// The least time between two requests, in milliseconds. Default: 0, none.
  package var interval: Int

  package init(downloads: Int? = nil, interval: Int = 0) {
    self.downloads = downloads
    self.interval = interval
  }

  /// The allowance of a host without a rule.
  package static let standard = HostAllowance()
}
