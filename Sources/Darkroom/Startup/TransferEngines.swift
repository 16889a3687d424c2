import Model
import Transfer

/// The engine that transfers start on, and those of earlier configurations, which live as long as their transfers.
struct TransferEngines {
  private(set) var current: TransferEngine
  private var earlier: [Earlier] = []

  private struct Earlier {
    weak var engine: TransferEngine?
  }

  init(_ configuration: Configuration) { current = TransferEngine(configuration: configuration.engine) }

  /// Makes the engine of another configuration.
  mutating func configure(_ configuration: Configuration) {
    earlier = earlier.filter { $0.engine != nil } + [Earlier(engine: current)]
    current = TransferEngine(configuration: configuration.engine)
  }

  func shutDown() {
    for earlier in earlier { earlier.engine?.shutdown() }
    current.shutdown()
  }
}

extension Configuration {
  /// The configuration of the engine: its limits are not below those of any host rule.
  var engine: TransferConfiguration {
    var engine = transfer
    let most = hosts.mostPerHost ?? 0
    engine.perHost.connections = max(engine.perHost.connections, most)
    engine.perHost.streams = max(engine.perHost.streams, most)
    engine.privateFolders = [inbox, outbox, state] + (shared.map { [$0.inbox, $0.outbox] } ?? [])
    return engine
  }
}
