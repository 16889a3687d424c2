import Imaging
import Model
import Planning
import Transfer

/// The options, in the order of the help.
enum OptionTable {
  static let all: [Option] = groups.flatMap(\.options)

  /// The options that are also environment variables and keys of the configuration file.
  static let general = all.filter { !$0.isForOneCall }

  static let groups: [(heading: String, options: [Option])] = [
    ("options of one command", oneCommand), ("pauses and time", pauses), ("work", work), ("pictures", pictures),
    ("downloads", downloads), ("cache", cache), ("output", output), ("options of all commands", allCommands),
  ]

  /// The options that `Arguments` reads itself; they print something instead of running a command.
  static let informational: [(letter: Character?, name: String, summary: String)] = [
    ("h", "help", "print this help, or that of a command"),
    (nil, "version", "print the version, and the formats that are read"),
  ]

  /// - Parameter command: The command, when several have different options of the name. Default: nil, any.
  static func option(named name: String, of command: String? = nil) -> Option? {
    let options = all.filter { $0.name == name }
    return options.first { option in command.map(option.isTaken) ?? true } ?? options.first
  }

  private static let oneCommand = [
    Option(
      "name", \.jobName, .text("JOB"), of: ["add", "run", "shard"], isForOneCall: true,
      default: "the file's, urls-TIME or stdin", "the job's name; for run, that of the manifest from standard input"),
    Option(
      "shards", \.shards, .whole(1...10_000), of: ["shard"], isForOneCall: true,
      "required: into how many shards to divide a manifest, ten to fifty times the number of processes that will do them"
    ),
    Option(
      "by", \.shardGrouping, .choice, of: ["shard"], isForOneCall: true,
      "whether the entries of a host, or of all hosts of a domain, stay in one shard"),
    Option(
      "by-index", \.isByIndex, .flag, of: ["shard"], isForOneCall: true,
      "run the shard whose number is SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX, and no other"),
    Option(
      "claim-timeout", \.claimTimeout, .seconds(from: 5), of: ["shard"], isForOneCall: true,
      "after how long without a sign of life of its process a shard is done by another"),
    Option(
      "partial", \.isPartial, .flag, of: ["shard"], isForOneCall: true,
      "merge what there is, although shards are not complete"),
    Option(
      "timeout", \.waitTimeout, .seconds(from: 0), of: ["wait"], isForOneCall: true, default: "for ever",
      "how long to wait before exiting with 75"),
    Option(
      "all", \.allJobs, .flag, of: ["cancel", "status"], isForOneCall: true,
      "cancel: all jobs that have not ended; status: list all jobs that have, not only the last five"),
    Option(
      "dry-run", \.isDryRun, .flag, of: ["gc"], isForOneCall: true, "print what would be removed, and remove nothing"),
    Option(
      "watch", \.keepsWatching, .flag, of: ["status"], isForOneCall: true,
      "redraw the status until Ctrl-C; without a terminal, print it each time it changes"),
    Option(
      "reason", \.reason, .text("TEXT"), of: ["pause"], isForOneCall: true,
      "the reason; the first line of the lock, shown in reports"),
    Option(
      "explain", \.explain, .recipe, of: ["filters"], isForOneCall: true, "explain the steps of this recipe"),
  ]

  private static let pauses = [
    Option(
      "lock-file", \.configuration.lockFile, .text("FILE"), of: ["run", "watch", "status", "resume"],
      "another lock file to honour, in any folder"),
    Option(
      "lock-wait", \.configuration.lockWait, .seconds(from: 0), of: ["run"], default: "for ever",
      "how long to stay paused before exiting with 75"),
    Option(
      "outage-wait", \.configuration.outageWait, .duration(from: 0.001), of: ["run", "watch"],
      default: "600; watch: a day", "how long to wait for failing hosts while no host answers"),
    Option(
      "max-duration", \.configuration.maxDuration, .duration(from: 0.001), of: ["run"], default: "for ever",
      "how long to work before exiting with 75 and leaving the rest to the next start"),
    Option(
      "min-free", \.configuration.minFree, .bytes, of: ["run", "watch"],
      "pause while the file system of the outbox or the state has less free space"),
    Option(
      "poll-interval", \.configuration.pollInterval, .seconds(from: 0.01), of: ["run", "watch", "wait"],
      "how often the inbox is scanned"),
    Option(
      "settle", \.configuration.settle, .seconds(from: 0), "how long a file must be unchanged before it is read"),
    Option(
      "grace", \.configuration.grace, .seconds(from: 0),
      "how long running operations may take after the first signal"),
  ]

  private static let work = [
    Option("jobs", \.configuration.jobs, .whole(1...1024), "jobs that are live at once"),
    Option("downloads", \.configuration.downloads, .downloadLimit, "downloads at once"),
    Option(
      "filtrations", \.configuration.filtrations, .whole(1...1024), default: "processors", "filtrations at once"),
    Option(
      "isolation", \.configuration.isolation, .choice, of: ["run", "watch"],
      "decode pictures in worker processes that the kernel confines, or in the program itself"),
    Option(
      "per-host", \.configuration.transfer.perHost, .hostLimit, of: ["run", "watch", "shard"],
      "downloads at once from one host"),
  ]

  /// The commands that plan manifests.
  private static let planning = ["run", "watch", "check"]

  private static let formats = OutputFormatName.allCases.map(\.rawValue).joined(separator: "|")

  private static let pictures = [
    Option(
      "filters", \.configuration.filters, .recipe, of: planning,
      "the recipe for entries without one; \"none\" for no filters"),
    Option("format", \.configuration.output.format, .format, of: planning, "the format for entries without one"),
    Option(
      "quality", \.configuration.output.quality, .whole(1...100), of: planning,
      "the quality of JPEG, AVIF and lossy WebP for entries without one"),
    Option(
      "chroma", \.configuration.output.chroma, .choice, default: "by quality and source",
      "the chroma sampling of JPEG and AVIF"),
    Option(
      "jpeg-coding", \.configuration.output.jpegCoding, .choice,
      "how JPEG is coded; optimized and progressive make smaller files of the same pixels"),
    Option(
      "png-palette", \.configuration.output.pngPalette, .choice,
      "whether PNG of at most 256 colours gets a palette, which mostly makes it smaller; the pixels are the same"),
    Option(
      "metadata", \.configuration.output.metadata, .choice, "which EXIF, XMP and IPTC metadata to keep"),
    Option(
      "damaged", \.configuration.output.damaged, .choice,
      "whether a picture that is cut off or broken fails, or what can be read of it is used, with a warning; "
        + "copies (filters none, format keep) are not decoded"),
    Option("max-pixels", \.configuration.maxPixels, .pixels, "the largest picture that is read, copied or written"),
    Option(
      "min-pixels", \.configuration.minPixels, .pixels,
      "the smallest picture that is used; an entry with a smaller one fails"),
  ]

  private static let downloads = [
    Option(
      "retries", \.configuration.givenRetries, .whole(0...100),
      "retries after failures that may be temporary"),
    Option(
      "retry-for", \.configuration.deferral.seconds, .duration(from: 0), default: "off",
      "after that, retry at growing intervals until this long after an entry's first try"),
    Option(
      "connect-timeout", \.configuration.transfer.connectTimeout, .seconds(from: 0.001),
      "the time limit for name, connection and TLS"),
    Option(
      "timeout", \.configuration.transfer.timeout, .seconds(from: 0.001), "the time limit for a whole transfer"),
    Option(
      "first-byte-timeout", \.configuration.transfer.firstByteTimeout, .seconds(from: 0.001),
      default: "60; for a host that has never answered, as --connect-timeout",
      "the time limit for the first byte of a source, counted from when its request was sent"),
    Option(
      "entry-timeout", \.configuration.entryTimeout, .seconds(from: 0.001),
      "the time limit for all tries of an entry together, without pauses"),
    Option(
      "low-speed", \.configuration.transfer.lowSpeed, .bytes,
      "time out when fewer bytes per second than this arrive over 15 s, from the first one on; 0 turns it off"),
    Option(
      "max-rate", \.configuration.transfer.maxRate, .rate,
      "the limit for all downloads together, in bytes per second"),
    Option(
      "max-bytes", \.configuration.transfer.maxBytes, .bytes, of: planning, "the largest source that is downloaded"),
    Option("max-redirects", \.configuration.transfer.maxRedirects, .whole(0...100), "how many redirects to follow"),
    Option("user-agent", \.configuration.transfer.userAgent, .userAgent, "the User-Agent header of each request"),
    Option(
      "proxy", \.configuration.transfer.proxies.override, .proxy, default: "as curl",
      "the proxy of all requests except those that no_proxy names"),
    Option(
      "allow-net", \.configuration.transfer.addressPolicy.allowedNetworks, .networks, of: planning,
      "allow loopback, private or other special addresses; repeatable, or a list with commas"),
    Option(
      "file-root", \.configuration.transfer.fileRoot, .folderPath, of: planning + ["shard"],
      "allow file: URLs and bare paths beneath this folder only; forms may send its files to any server"),
  ]

  private static let cache = [
    Option(
      "cache-size", \.configuration.cacheSize, .bytes, of: ["run", "watch", "gc"],
      "the size of the download cache; 0 turns it off"),
    Option(
      "refresh", \.configuration.refresh, .flag,
      "download and make everything again, even if the cache or the outbox has it"),
  ]

  private static let output = [
    Option(
      "json", \.isJSON, .flag, of: ["run", "watch", "check", "shard", "status", "doctor", "gc"],
      "print JSON on standard output, one object per line"),
    Option(
      "log-format", \.logFormat, .choice, of: ["run", "watch"],
      "the form of the log on standard error: text, or for each line key=value pairs or a JSON object, with its level"),
    Option(
      "metrics", \.configuration.metrics, .text("FILE"), of: ["run", "watch"],
      "write numbers for Prometheus into this file; node_exporter's textfile collector reads *.prom"),
    Option(
      "notify", \.configuration.notify, .webhook, of: ["run", "watch"],
      "when a job has ended, post the head of its report to this URL, as JSON"),
    Option(
      "exec", \.configuration.exec, .text("PROGRAM"), of: ["run", "watch"],
      "when a job has ended, run this program, for at most 60 s, without arguments"),
    Option(
      "keep-originals", \.configuration.keepOriginals, .flag,
      "also keep the source of each picture, in originals/ of the job's folder, as soon as it is downloaded"),
    Option(
      "prune", \.configuration.prune, .flag,
      "after a job has succeeded, remove results of its earlier runs that its manifest no longer names"),
    Option(
      "gallery", \.configuration.gallery, .choice, of: ["run", "watch"],
      "write index.html for each job and for the outbox, and previews of large results"),
    Option(
      "keep-history", \.configuration.keepHistory, .whole(0...1_000_000), of: ["run", "watch", "gc"],
      "how many earlier runs of a job keep their reports and manifests"),
    Option(
      "accept-failures", \.configuration.acceptFailures, .failures, of: ["run", "wait", "shard"],
      "exit with 0, and stay quiet, if others succeeded and all failures are known from the last run, or if at most N "
        + "entries or N% of them failed"),
    Option(
      "fail-empty", \.configuration.failEmpty, .flag, of: ["run", "wait", "shard"],
      "exit with 1 if a job has no entries"),
  ]

  private static let allCommands = [
    Option("inbox", \.inbox, .folder, of: nil, "the folder for manifests and locks"),
    Option("outbox", \.outbox, .folder, of: nil, "the folder for pictures and reports"),
    Option(
      "state", \.state, .text("DIR"), of: nil, default: "OUTBOX/.darkroom", "the folder for the ledger and the cache"),
    Option("create", \.create, .flag, of: nil, "create the named folders that are missing"),
    Option(
      "config", \.config, .text("FILE"), of: nil,
      default: "~/.config/darkroom/config.json, else /etc/darkroom/config.json", "options as a JSON object"),
    Option(
      "quiet", \.verbosity, .flag(.quiet), letter: "q", of: nil, "print only errors and warnings, besides results"),
    Option("verbose", \.verbosity, .flag(.verbose), letter: "v", of: nil, "print a line for each entry"),
  ]
}
