import Foundation
import Synchronization

/// What the tests of a run share: made when the first of them asks for it, and released when the process exits.
package final class Shared<Value: Sendable>: Sendable {
  private let make: @Sendable () throws -> Value
  private let made = Mutex<Value?>(nil)

  package init(_ make: @escaping @Sendable () throws -> Value) { self.make = make }

  package var value: Value {
    get throws {
      try made.withLock { made in
        if let made { return made }
        let value = try make()
        made = value
        AtExit.add { [self] in self.made.withLock { $0 = nil } }
        return value
      }
    }
  }
}

/// What is done when the process exits.
private enum AtExit {
  private static let actions = Mutex<[@Sendable () -> Void]>([])

  static func add(_ action: @escaping @Sendable () -> Void) {
    actions.withLock { actions in
      if actions.isEmpty { atexit { AtExit.run() } }
      actions.append(action)
    }
  }

  private static func run() {
    for action in actions.withLock({ $0 }) { action() }
  }
}
