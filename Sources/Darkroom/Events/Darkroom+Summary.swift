import Model

extension Darkroom {
  /// The outcome of the jobs of this process.
  package struct Summary: Sendable {
    /// The states of ended jobs. A job whose failures are accepted has succeeded.
    package let states: Set<JobOutcome.State>
    /// Whether a job could not be processed, or its manifest could not be moved.
    package let hadTrouble: Bool
    /// Whether a named manifest does not exist or cannot be read.
    package let isMissing: Bool
    /// Whether work is left for the next start: `--max-duration` ran out, a manifest was being written, no host answered, or
    /// options are missing.
    package let isUnfinished: Bool
    /// The number of ignored files in the inbox.
    package let ignored: Int

    /// Whether there was nothing to do.
    package var isIdle: Bool { states.isEmpty && !hadTrouble && !isMissing && !isUnfinished }
  }
}
