import Darkroom
import Imaging
import Transfer

/// The options that there are, in the order of the help.
enum OptionTable {
  static let all: [Option] = groups.flatMap(\.options)

  /// The options that are environment variables and keys of the file, too.
  static let general = all.filter { !$0.isForOneCall }

  /// The options under their headings.
  static let groups: [(heading: String, options: [Option])] = [
    ("options", calls), ("pauses and time", pauses), ("work", work), ("pictures", pictures),
    ("downloads", downloads), ("cache", cache), ("output", output), ("options of all commands", common),
  ]

  private static let pauses = [
    Option(
      name: "lock-file", commands: ["run", "watch", "status", "resume"], value: "FILE",
      summary: "one more lock file to honour"
    ) { $0.configuration.lockFile = $1 },
    Option(
      name: "lock-wait", commands: ["run"], value: "SECONDS", defaultText: "for ever",
      summary: "how long to stay paused before ending with 75"
    ) { $0.configuration.lockWait = try OptionValue.seconds($1, from: 0) },
    Option(
      name: "min-free", value: "BYTES", defaultText: "256M",
      summary: "pause while the outbox's file system has less free"
    ) { $0.configuration.minFree = try OptionValue.bytes($1) },
    Option(
      name: "poll-interval", commands: ["run", "watch", "wait"], value: "SECONDS", defaultText: "1",
      summary: "how often the inbox is scanned"
    ) { $0.configuration.pollInterval = try OptionValue.seconds($1, from: 0.01) },
    Option(
      name: "settle", value: "SECONDS", defaultText: "2",
      summary: "how long a file must be unchanged before it is read"
    ) { $0.configuration.settle = try OptionValue.seconds($1, from: 0) },
    Option(
      name: "grace", value: "SECONDS", defaultText: "20",
      summary: "how long running operations may take after a signal"
    ) { $0.configuration.grace = try OptionValue.seconds($1, from: 0) },
  ]

  private static let work = [
    Option(name: "downloads", value: "N", defaultText: "16", summary: "downloads at once") {
      $0.configuration.downloads = try OptionValue.whole($1, in: 1...1024)
    },
    Option(name: "filtrations", value: "N", defaultText: "processors", summary: "filtrations at once") {
      $0.configuration.filtrations = try OptionValue.whole($1, in: 1...1024)
    },
    Option(name: "per-host", value: "N", defaultText: "6", summary: "transfers at once from one host") {
      $0.configuration.transfer.perHost = try OptionValue.whole($1, in: 1...1024)
    },
  ]

  /// The commands that plan manifests.
  private static let planning = ["run", "watch", "check"]

  private static let pictures = [
    Option(
      name: "filters", commands: planning, value: "RECIPE", defaultText: "sepia(0.8)",
      summary: "for entries that name none; none for none"
    ) { $0.configuration.filters = try OptionValue.recipe($1) },
    Option(
      name: "format", commands: planning, value: "keep|jpeg|png|webp", defaultText: "keep",
      summary: "format of the results"
    ) { $0.configuration.output.format = try OptionValue.format($1) },
    Option(name: "quality", commands: planning, value: "1…100", defaultText: "85", summary: "quality of JPEG and WebP")
    {
      $0.configuration.output.quality = try OptionValue.whole($1, in: 1...100)
    },
    Option(
      name: "metadata", value: "none|copyright|all", defaultText: "copyright",
      summary: "what is kept of EXIF, XMP and IPTC"
    ) { $0.configuration.output.metadata = try OptionValue.metadata($1) },
    Option(name: "max-pixels", value: "N", defaultText: "268402689", summary: "largest picture read or made") {
      $0.configuration.maxPixels = try OptionValue.pixels($1)
    },
  ]

  private static let downloads = [
    Option(name: "retries", value: "N", defaultText: "3", summary: "tries after the first, for what may pass") {
      $0.configuration.backoff.retries = try OptionValue.whole($1, in: 0...100)
    },
    Option(name: "connect-timeout", value: "SECONDS", defaultText: "10", summary: "for a connection") {
      $0.configuration.transfer.connectTimeout = .seconds(try OptionValue.seconds($1, from: 0.001))
    },
    Option(name: "timeout", value: "SECONDS", defaultText: "600", summary: "for a whole transfer") {
      $0.configuration.transfer.timeout = .seconds(try OptionValue.seconds($1, from: 0.001))
    },
    Option(name: "low-speed", value: "BYTES", defaultText: "1024", summary: "bytes a second, least over 15 s") {
      $0.configuration.transfer.lowSpeed = try OptionValue.bytes($1)
    },
    Option(
      name: "max-bytes", commands: planning, value: "BYTES", defaultText: "256M",
      summary: "largest source that is downloaded"
    ) {
      $0.configuration.transfer.maxBytes = try OptionValue.bytes($1)
    },
    Option(name: "max-redirects", value: "N", defaultText: "5", summary: "redirects that are followed") {
      $0.configuration.transfer.maxRedirects = try OptionValue.whole($1, in: 0...100)
    },
    Option(name: "user-agent", value: "TEXT", defaultText: "darkroom/VERSION", summary: "sent with each request") {
      $0.configuration.transfer.userAgent = try OptionValue.headerText($1)
    },
    Option(
      name: "proxy", value: "URL", defaultText: "as curl", summary: "for all requests but those that no_proxy excepts"
    ) { $0.configuration.transfer.proxies.override = try OptionValue.proxy($1) },
    Option(
      name: "allow-net", commands: planning, value: "CIDR",
      summary: "allow loopback, private or other special addresses; repeatable"
    ) { $0.configuration.transfer.addressPolicy.allowedNetworks += try OptionValue.networks($1) },
    Option(
      name: "file-root", commands: planning, value: "DIR",
      summary: "allow file: URLs and paths beneath it, and nowhere else"
    ) { $0.configuration.transfer.fileRoot = try OptionValue.folder($1) },
  ]

  private static let cache = [
    Option(
      name: "cache-size", value: "BYTES", defaultText: "1G", summary: "what the download cache may hold; 0: none"
    ) { $0.configuration.cacheSize = try OptionValue.bytes($1) },
    Option(name: "refresh", summary: "download everything again, whatever the cache has") {
      $0.configuration.refresh = try OptionValue.flag($1)
    },
  ]

  private static let output = [
    Option(
      name: "json", commands: ["run", "watch", "check", "status"], summary: "print JSON, one object a line"
    ) { $0.isJSON = try OptionValue.flag($1) }
  ]

  private static let calls = [
    Option(
      name: "name", commands: ["add"], isForOneCall: true, value: "JOB", defaultText: "the file's, or urls-TIME",
      summary: "the job's name"
    ) { $0.jobName = $1 },
    Option(
      name: "reason", commands: ["pause"], isForOneCall: true, value: "TEXT", summary: "why; shown in reports"
    ) { $0.reason = $1 },
    Option(
      name: "explain", commands: ["filters"], isForOneCall: true, value: "RECIPE",
      summary: "the pipeline that a recipe becomes"
    ) { $0.explain = try OptionValue.recipe($1) },
  ]

  private static let common = [
    Option(
      name: "inbox", commands: nil, value: "DIR", defaultText: "inbox", summary: "where manifests and locks are dropped"
    ) { $0.inbox = $1 },
    Option(
      name: "outbox", commands: nil, value: "DIR", defaultText: "outbox", summary: "where pictures and reports go"
    ) { $0.outbox = $1 },
    Option(
      name: "state", commands: nil, value: "DIR", defaultText: "OUTBOX/.darkroom", summary: "where the ledger lies"
    ) { $0.state = $1 },
    Option(name: "create", commands: nil, summary: "create the folders that are named and missing") {
      $0.create = try OptionValue.flag($1)
    },
    Option(
      name: "config", commands: nil, value: "FILE",
      defaultText: "~/.config/darkroom/config.json, else /etc/darkroom/config.json",
      summary: "options as a JSON object"
    ) { $0.config = $1 },
    Option(name: "quiet", letter: "q", commands: nil, summary: "tell only what is wrong") {
      if try OptionValue.flag($1) { $0.verbosity = .quiet }
    },
    Option(name: "verbose", letter: "v", commands: nil, summary: "tell each entry") {
      if try OptionValue.flag($1) { $0.verbosity = .verbose }
    },
  ]

  /// Options that are promised and that this version does not have.
  static let later: Set = [
    "keep-originals", "metrics", "exec", "notify",
  ]
}
