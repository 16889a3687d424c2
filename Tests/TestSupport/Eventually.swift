import Foundation

/// Looks again and again, until what is seen is what is awaited or two minutes are over. Also for files and locks that are
/// released: a process that another test starts has all that is open here until its program begins.
/// - Returns: What was seen last.
package func eventually<Seen>(_ look: () throws -> Seen, is isAwaited: (Seen) throws -> Bool) rethrows -> Seen {
  let limit = ContinuousClock.now + .seconds(120)
  var seen = try look()
  while try !isAwaited(seen), ContinuousClock.now < limit {
    usleep(10_000)
    seen = try look()
  }
  return seen
}
