import System

/// Why a manifest cannot be taken out of the inbox now. It concerns its job alone, whatever the system says: the inbox may lie
/// in another file system than the outbox and the state.
package struct ManifestObstacle: Error, CustomStringConvertible {
  let error: SystemError

  package var description: String { error.description }
}
