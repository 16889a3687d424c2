/// The options of aria2 in a list that have no meaning here: they are ignored, with one warning.
struct IgnoredOptions {
  /// The options in aria2's manual (version 1.37), except those that are supported.
  static let all = Set(
    """
    all-proxy all-proxy-passwd all-proxy-user allow-overwrite allow-piece-length-change always-resume async-dns
    async-dns-server auto-file-renaming auto-save-interval bt-detach-seed-only bt-enable-hook-after-hash-check
    bt-enable-lpd bt-exclude-tracker bt-external-ip bt-force-encryption bt-hash-check-seed bt-load-saved-metadata
    bt-lpd-interface bt-max-open-files bt-max-peers bt-metadata-only bt-min-crypto-level bt-prioritize-piece
    bt-remove-unselected-file bt-request-peer-speed-limit bt-require-crypto bt-save-metadata bt-seed-unverified
    bt-stop-timeout bt-tracker bt-tracker-connect-timeout bt-tracker-interval bt-tracker-timeout ca-certificate
    certificate check-certificate check-integrity conditional-get conf-path connect-timeout console-log-level
    content-disposition-default-utf8 continue daemon deferred-input dht-entry-point dht-entry-point6 dht-file-path
    dht-file-path6 dht-listen-addr6 dht-listen-port dht-message-timeout dir disable-ipv6 disk-cache download-result
    dry-run dscp enable-color enable-dht enable-dht6 enable-http-keep-alive enable-http-pipelining enable-mmap
    enable-peer-exchange enable-rpc event-poll file-allocation follow-metalink follow-torrent force-save
    force-sequential ftp-passwd ftp-pasv ftp-proxy ftp-proxy-passwd ftp-proxy-user ftp-reuse-connection ftp-type
    ftp-user gid hash-check-only help http-accept-gzip http-auth-challenge http-no-cache http-passwd http-proxy
    http-proxy-passwd http-proxy-user http-user https-proxy https-proxy-passwd https-proxy-user human-readable
    index-out input-file interface keep-unfinished-download-result listen-port load-cookies log log-level
    lowest-speed-limit max-concurrent-downloads max-connection-per-server max-download-limit max-download-result
    max-file-not-found max-mmap-limit max-overall-download-limit max-overall-upload-limit max-resume-failure-tries
    max-tries max-upload-limit metalink-base-uri metalink-enable-unique-protocol metalink-file metalink-language
    metalink-location metalink-os metalink-preferred-protocol metalink-version min-split-size min-tls-version
    multiple-interface netrc-path no-conf no-file-allocation-limit no-netrc no-proxy no-want-digest-header
    on-bt-download-complete on-download-complete on-download-error on-download-pause on-download-start
    on-download-stop optimize-concurrent-downloads parameterized-uri pause pause-metadata peer-agent peer-id-prefix
    piece-length private-key proxy-method quiet realtime-chunk-checksum remote-time remove-control-file retry-wait
    reuse-uri rlimit-nofile rpc-allow-origin-all rpc-certificate rpc-listen-all rpc-listen-port rpc-max-request-size
    rpc-passwd rpc-private-key rpc-save-upload-metadata rpc-secret rpc-secure rpc-user save-cookies save-not-found
    save-session save-session-interval seed-ratio seed-time select-file server-stat-if server-stat-of
    server-stat-timeout show-console-readout show-files socket-recv-buffer-size split ssh-host-key-md stderr stop
    stop-with-process stream-piece-selector summary-interval timeout torrent-file truncate-console-readout
    uri-selector use-head user-agent version
    """.split(whereSeparator: \.isWhitespace).map(String.init))

  /// The options that occur, in the order of their first lines.
  private var names: [String] = []
  private var firstLine: Int?
  private var mayHoldSecrets = false

  mutating func add(_ name: String, value: Substring, line: Int) {
    firstLine = firstLine ?? line
    if !names.contains(name) { names.append(name) }
    // A proxy's URL may have a password, too.
    let isSecret = name.hasSuffix("passwd") || name.hasSuffix("secret") || value.utf8.contains(UInt8(ascii: "@"))
    mayHoldSecrets = mayHoldSecrets || isSecret
  }

  /// nil when there are none.
  var warning: ManifestWarning? {
    guard let firstLine else { return nil }
    let message = "options of aria2 that have no meaning here were ignored: \(names.joined(separator: ", "))"
    return ManifestWarning(.ignoredOption, message, at: .line(firstLine), concernsSecrets: mayHoldSecrets)
  }
}
