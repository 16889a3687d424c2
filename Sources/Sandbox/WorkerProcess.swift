import System

/// A child process that shares a socket with this one and has nothing else of it.
package struct WorkerProcess: Sendable {
  package let child: ChildProcess
  package let socket: MessageSocket

  /// The first message, which it has sent before it has seen anything from outside.
  package let greeting: [UInt8]
}
