import Foundation
import Sandbox
import System

/// Starts workers: as forks of a server, which it replaces when it should not be used any longer.
final class WorkerStarter: @unchecked Sendable {  // all state is guarded by `changed`
  private let thread = SpawnThread()
  private let changed = NSCondition()
  private var server: ForkServer?
  /// Which settings the server was started with.
  private var generation = 0
  /// Whether a caller starts a server, and its first worker; the others wait for it.
  private var isStarting = false

  /// Starts a worker. What ends before it has begun is started again, from another server: that is no picture's fault.
  func start(_ program: String, _ settings: DecodingPool.Settings, generation: Int) throws(SystemError)
    -> DecodingClient
  {
    var triesLeft = 3
    while true {
      let shared = sharedServer(generation)
      do throws(SystemError) {
        if let shared { return try client(of: shared, settings, generation) }
        return try startServer(program, settings, generation)
      } catch {
        replaceServer { if server === shared { server = nil } }
        triesLeft -= 1
        guard triesLeft > 0, error.operation == ForkServer.startOperation else { throw error }
      }
    }
  }

  /// Forks the next worker of a new server: forks of one have the same addresses, and one that was lost may have
  /// been a try to find them out.
  func renew() { replaceServer { server = nil } }

  private func client(
    of server: ForkServer, _ settings: DecodingPool.Settings, _ generation: Int
  ) throws(SystemError) -> DecodingClient {
    try DecodingClient(of: server, limits: settings.limits, maxPixels: settings.maxPixels, generation: generation)
  }

  // MARK: The server

  /// A server of these settings, which another caller may be starting; nil when this one has to start one.
  private func sharedServer(_ wanted: Int) -> ForkServer? {
    changed.lock()
    defer { changed.unlock() }
    while true {
      if generation == wanted, let server, server.isUsable { return server }
      guard isStarting else { break }
      changed.wait()
    }
    isStarting = true
    return nil
  }

  /// Starts a server and its first worker; by that one it is known whether it can have others.
  private func startServer(
    _ program: String, _ settings: DecodingPool.Settings, _ generation: Int
  ) throws(SystemError) -> DecodingClient {
    var started = ForkServer?.none
    defer { endStart(started, generation) }
    let arguments = [DecodingClient.command] + settings.limits.process(maxPixels: settings.maxPixels).arguments
    let server = try ForkServer(program, arguments, on: thread)
    let client = try client(of: server, settings, generation)
    started = server
    return client
  }

  private func endStart(_ started: ForkServer?, _ newGeneration: Int) {
    replaceServer {
      isStarting = false
      changed.broadcast()
      // One of earlier settings is for one worker.
      guard let started, newGeneration >= generation else { return }
      (server, generation) = (started, newGeneration)
    }
  }

  /// Changes the state. The end of a server that is not needed any more is waited for, but not with the lock.
  private func replaceServer(_ change: () -> Void) {
    changed.lock()
    let old = server
    change()
    changed.unlock()
    withExtendedLifetime(old) {}
  }
}
