import Scheduling

/// Numbers for the names of hosts, shared by all live jobs.
struct HostNames {
  private var numbers: [String: Int] = [:]
  private var names: [Int: String] = [:]
  private var last = HostScheduler.files

  /// The number of a name, from 1. Assigns one to a new name.
  mutating func number(of name: String) -> Int {
    if let number = numbers[name] { return number }
    last += 1
    numbers[name] = last
    names[last] = name
    return last
  }

  /// The number of a name; nil for a new name.
  func known(_ name: String) -> Int? { numbers[name] }

  /// The name for a number; empty for `HostScheduler.files`.
  func name(of number: Int) -> String { names[number] ?? "" }

  mutating func remove(_ number: Int) {
    if let name = names.removeValue(forKey: number) { numbers[name] = nil }
  }

  /// Removes the names of hosts that are not needed, if there are many.
  mutating func forget(unless isNeeded: (Int) -> Bool) {
    guard names.count > 10_000 else { return }
    names = names.filter { isNeeded($0.key) }
    numbers = numbers.filter { names[$0.value] != nil }
  }
}
