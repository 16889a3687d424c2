/// The places of live runs. Without a free one, a run that only waits is set aside for another.
struct Places {
  /// How many more runs may be live; negative when the limit was lowered.
  private var free: Int

  /// The runs that may be set aside, the next one first. Default: none.
  var resting: ArraySlice<Int> = []

  /// The runs that are set aside.
  private(set) var setAside: [Int] = []

  init(free: Int) { self.free = free }

  /// Whether a place is free.
  var areFree: Bool { free > 0 }

  /// Whether a place is free, or can be made free.
  var areLeft: Bool { areFree || !resting.isEmpty }

  /// Takes a place, if one is left.
  mutating func take() {
    if areFree {
      free -= 1
    } else if let number = resting.popFirst() {
      setAside.append(number)
    }
  }
}
