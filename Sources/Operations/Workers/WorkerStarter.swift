import Foundation
import Sandbox
import System

/// Starts workers as forks of a server, and replaces the server when necessary.
final class WorkerStarter: @unchecked Sendable {  // all state is guarded by `changed`
  private let thread = SpawnThread()
  private let changed = NSCondition()
  private var server: ForkServer?
  /// The number of the settings with which the server was started.
  private var generation = 0
  /// Whether a caller is starting a server and its first worker. Other callers wait for it.
  private var isStarting = false

  /// Starts a worker. One that ends before it is ready is not a picture's fault, and is started from another server.
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

  /// Makes the next worker a fork of a new server. Forks of one server share their addresses, which an attack may have
  /// tried to find out when a worker was lost.
  func renew() { replaceServer { server = nil } }

  private func client(
    of server: ForkServer, _ settings: DecodingPool.Settings, _ generation: Int
  ) throws(SystemError) -> DecodingClient {
    try DecodingClient(of: server, limits: settings.limits, maxPixels: settings.maxPixels, generation: generation)
  }

  // MARK: The server

  /// A server with these settings, which another caller may be starting; nil when this caller must start one.
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

  /// Starts a server and its first worker, which shows that the server works.
  private func startServer(
    _ program: String, _ settings: DecodingPool.Settings, _ generation: Int
  ) throws(SystemError) -> DecodingClient {
    var started = ForkServer?.none
    defer { endStart(started, generation) }
    let arguments =
      [DecodingClient.command] + settings.limits.process(maxPixels: settings.maxPixels).arguments
      + (settings.loadsLargeLibraries ? [DecodingClient.largeLibraries] : [])
    let server = try ForkServer(program, arguments, on: thread)
    let client = try client(of: server, settings, generation)
    started = server
    return client
  }

  private func endStart(_ started: ForkServer?, _ newGeneration: Int) {
    replaceServer {
      isStarting = false
      changed.broadcast()
      // A server with older settings is used for one worker only.
      guard let started, newGeneration >= generation else { return }
      (server, generation) = (started, newGeneration)
    }
  }

  /// Changes the state. Waits for the end of a replaced server after releasing the lock.
  private func replaceServer(_ change: () -> Void) {
    changed.lock()
    let old = server
    change()
    changed.unlock()
    withExtendedLifetime(old) {}
  }
}
