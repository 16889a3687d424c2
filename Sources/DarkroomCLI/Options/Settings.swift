import Darkroom
import Imaging
import Transfer

/// What options and environment variables say, before the folders are looked at.
struct Settings {
  var inbox: String?
  var outbox: String?
  var state: String?
  var create = false
  var reason: String?
  var explain: Recipe?
  var jobName: String?
  var config: String?
  var verbosity = Verbosity.normal

  /// Whether standard output is for machines.
  var isJSON = false

  /// Everything that is handed on as it is; its folders are filled in last.
  var configuration: Configuration

  /// How much is told on standard error.
  enum Verbosity: Sendable { case quiet, normal, verbose }

  init(processors: Int) throws(RecipeError) {
    configuration = Configuration(
      inbox: "inbox", outbox: "outbox", filters: try Recipe(parsing: "sepia(0.8)"), processors: processors)
    configuration.transfer.userAgent = "darkroom/" + Darkroom.version
  }
}
