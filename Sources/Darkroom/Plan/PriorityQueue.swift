/// A queue that gives its least element first: a binary heap.
struct PriorityQueue<Element: Comparable> {
  private var heap: [Element] = []

  var count: Int { heap.count }

  /// The least element; nil when there is none.
  var first: Element? { heap.first }

  mutating func insert(_ element: Element) {
    heap.append(element)
    var place = heap.count - 1
    while place > 0, heap[place] < heap[(place - 1) / 2] {
      heap.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  /// Takes out the least element.
  mutating func popFirst() -> Element? {
    guard let last = heap.popLast() else { return nil }
    guard let first = heap.first else { return last }
    heap[0] = last
    var place = 0
    while let child = lesserChild(of: place), heap[child] < heap[place] {
      heap.swapAt(child, place)
      place = child
    }
    return first
  }

  private func lesserChild(of place: Int) -> Int? {
    let (left, right) = (2 * place + 1, 2 * place + 2)
    guard left < heap.count else { return nil }
    return right < heap.count && heap[right] < heap[left] ? right : left
  }
}
