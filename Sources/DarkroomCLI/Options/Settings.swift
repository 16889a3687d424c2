import Imaging
import Model

/// What the configuration file, the environment and the command line set. Defaults are those of the properties.
struct Settings: Sendable {
  /// The default settings.
  static let defaults = Settings()

  var inbox: FolderSetting
  var outbox: FolderSetting
  /// Default: in the outbox.
  var state: String?
  /// Whether named folders are created.
  var create = false

  /// Why `pause` pauses.
  var reason: String?
  /// The recipe that `filters` explains.
  var explain: Recipe?
  /// The name of the job that `add` adds.
  var jobName: String?
  /// How long `wait` waits, in seconds; nil for any time.
  var waitTimeout: Double?
  /// Whether `status` lists all jobs that have ended, and `cancel` is for all that have not.
  var allJobs = false
  /// Whether `status` shows the status again and again.
  var keepsWatching = false

  var config: String?
  /// The configuration file that was read; nil without any.
  var configPath: String?
  /// Why that was not used; nil when it was.
  var configObstacle: String?
  /// The environment that the settings are from.
  var environment: [String: String] = [:]
  /// What set each option that is set, as messages call it: `--inbox`, `DARKROOM_INBOX`, `/etc/…: "inbox"`.
  var origins: [String: String] = [:]
  var verbosity = Verbosity.normal
  /// Whether standard output is for machines.
  var isJSON = false

  /// What the other modules get; `resolved()` fills in its folders.
  var configuration = Configuration()

  init() {
    inbox = FolderSetting(path: configuration.inbox)
    outbox = FolderSetting(path: configuration.outbox)
    // Whatever has become of the file meanwhile.
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
