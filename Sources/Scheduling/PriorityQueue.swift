/// A queue whose first element is the least one (a binary heap).
package struct PriorityQueue<Element: Comparable> {
  private var heap: [Element] = []

  package init() {}

  package var count: Int { heap.count }

  /// All elements, in no order.
  package var elements: [Element] { heap }

  /// The least element; nil when there is none.
  package var first: Element? { heap.first }

  package mutating func insert(_ element: Element) {
    heap.append(element)
    var index = heap.count - 1
    while index > 0, heap[index] < heap[(index - 1) / 2] {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  package mutating func popFirst() -> Element? {
    guard let last = heap.popLast() else { return nil }
    guard let first = heap.first else { return last }
    heap[0] = last
    moveDown(from: 0)
    return first
  }

  /// Removes elements, in linear time.
  package mutating func removeAll(where isRemoved: (Element) -> Bool) {
    let count = heap.count
    heap.removeAll(where: isRemoved)
    guard heap.count < count else { return }
    for index in (0..<heap.count / 2).reversed() { moveDown(from: index) }
  }

  private mutating func moveDown(from start: Int) {
    var index = start
    while let child = lesserChild(of: index), heap[child] < heap[index] {
      heap.swapAt(child, index)
      index = child
    }
  }

  private func lesserChild(of index: Int) -> Int? {
    let (left, right) = (2 * index + 1, 2 * index + 2)
    guard left < heap.count else { return nil }
    return right < heap.count && heap[right] < heap[left] ? right : left
  }
}
