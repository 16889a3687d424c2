import System

/// The error for a manifest that cannot be removed from the inbox now. It concerns only its job, since the inbox may be
/// on another file system than the outbox and the state.
package struct ManifestObstacle: Error, CustomStringConvertible {
  let error: SystemError

  package var description: String { error.description }
}
