import Sandbox
import Synchronization
import System

/// Starts workers: as forks of a server, which it replaces when it should not be used any longer.
final class WorkerStarter: Sendable {
  private struct State {
    var server: ForkServer?
    /// Which settings the server was started with.
    var generation = 0
  }

  private let thread = SpawnThread()
  private let state = Mutex(State())

  /// Starts a worker. What ends before it has begun is started again, from another server: that is no picture's fault.
  /// - Throws: `SystemError`.
  func start(_ program: String, _ settings: DecodingPool.Settings, generation: Int) throws(SystemError)
    -> DecodingClient
  {
    var triesLeft = 3
    while true {
      let server = try server(program, settings, generation)
      do throws(SystemError) {
        return try DecodingClient(
          of: server, limits: settings.limits, maxPixels: settings.maxPixels, generation: generation)
      } catch {
        drop(server)
        triesLeft -= 1
        guard triesLeft > 0, error.operation == ForkServer.startOperation else { throw error }
      }
    }
  }

  /// Has the next worker come from a new server: forks of one have the same addresses, and one that was lost may have
  /// been a try to find them out.
  func renew() {
    let old = state.withLock { state in
      defer { state.server = nil }
      return state.server
    }
    // Its end is waited for, but not with the lock.
    withExtendedLifetime(old) {}
  }

  private func server(
    _ program: String, _ settings: DecodingPool.Settings, _ generation: Int
  ) throws(SystemError) -> ForkServer {
    if let server = usable(generation) { return server }
    let arguments = [DecodingClient.command] + settings.limits.process(maxPixels: settings.maxPixels).arguments
    let server = try ForkServer(program, arguments, on: thread)
    let old = state.withLock { state in
      // Of several that are started at the same time, the others are for one worker each.
      guard state.server?.isUsable != true || state.generation < generation else { return ForkServer?.none }
      defer { (state.server, state.generation) = (server, generation) }
      return state.server
    }
    withExtendedLifetime(old) {}
    return server
  }

  private func usable(_ generation: Int) -> ForkServer? {
    state.withLock { $0.generation == generation && $0.server?.isUsable == true ? $0.server : nil }
  }

  private func drop(_ server: ForkServer) {
    state.withLock { state in if state.server === server { state.server = nil } }
  }
}
