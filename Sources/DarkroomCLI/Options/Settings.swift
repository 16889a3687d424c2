import Darkroom
import Imaging
import Model

/// The values that the configuration file, the environment and the command line set. Defaults are those of the properties.
struct Settings: Sendable {
  /// The default settings.
  static let defaults = Settings()

  var inbox: FolderSetting
  var outbox: FolderSetting
  /// Default: in the outbox.
  var state: String?
  /// Whether named folders are created.
  var create = false

  /// The reason that `pause` gives.
  var reason: String?
  /// The recipe that `filters` explains.
  var explain: Recipe?
  /// The name of the job that `add` adds.
  var jobName: String?
  /// The number of shards into which `shard split` divides a manifest.
  var shards: Int?
  /// What `shard split` keeps together.
  var shardGrouping = ShardPlan.Grouping.host
  /// Whether `shard run` takes the shard that the scheduler's variables name.
  var isByIndex = false
  /// After how many seconds without a renewal the claim of a shard is given up.
  var claimTimeout = 120.0
  /// Whether `shard merge` writes a report although shards are not complete.
  var isPartial = false
  /// How long `wait` waits, in seconds; nil without a limit.
  var waitTimeout: Double?
  /// Whether `status` lists all jobs that have ended, and `cancel` all that have not.
  var allJobs = false
  /// Whether `gc` only prints what it would remove.
  var isDryRun = false
  /// Whether `status` is repeated until it is stopped.
  var keepsWatching = false

  var config: String?
  /// The configuration file that was read; nil without any.
  var configPath: String?
  /// Why that file was not used; nil when it was.
  var configObstacle: String?
  /// The environment of the settings.
  var environment: [String: String] = [:]
  /// Where each set option comes from, as messages call it: `--inbox`, `DARKROOM_INBOX`, `/etc/…: "inbox"`.
  var origins: [String: String] = [:]
  var verbosity = Verbosity.normal
  /// The form of the log of the commands that have one, see `LogFormat.isUsed`.
  var logFormat = LogFormat.text
  /// Whether standard output is for machines.
  var isJSON = false

  /// The configuration for the other modules; `resolved()` fills in its folders.
  var configuration = Configuration()

  init() {
    inbox = FolderSetting(path: configuration.inbox)
    outbox = FolderSetting(path: configuration.outbox)
    // Works even if the file has been replaced.
    configuration.workerProgram = "/proc/self/exe"
  }

  /// A folder. The default ones are created when they are missing; named ones must exist.
  struct FolderSetting: Sendable {
    var path: String
    var isNamed = false
  }

  /// How much goes to standard error.
  enum Verbosity: Int, Sendable { case quiet, normal, verbose }
}
