import Scheduling
import Testing

@Suite struct PriorityQueueTests {
  @Test(arguments: [0, 1, 2, 3, 100, 1000])
  func `elements come in their order, whatever order they went in`(count: Int) {
    var queue = PriorityQueue<Int>()
    let elements = (0..<count).map { ($0 * 7919) % 101 }
    for element in elements { queue.insert(element) }
    #expect(queue.first == elements.min())
    var taken: [Int] = []
    while let element = queue.popFirst() { taken.append(element) }
    #expect(taken == elements.sorted())
  }

  @Test func `elements that go in meanwhile take their place`() {
    var queue = PriorityQueue<Int>()
    for element in [5, 1, 9] { queue.insert(element) }
    #expect(queue.popFirst() == 1)
    for element in [7, 0, 6] { queue.insert(element) }
    #expect((0..<5).map { _ in queue.popFirst() } == [0, 5, 6, 7, 9])
    #expect(queue.popFirst() == nil)
  }

  @Test(arguments: [0, 1, 2, 10, 1000], [1, 2, 3, 2000])
  func `what is removed does not come, the rest in its order`(count: Int, divisor: Int) {
    var queue = PriorityQueue<Int>()
    let elements = (0..<count).map { ($0 * 7919) % 1009 }
    for element in elements { queue.insert(element) }
    queue.removeAll { $0.isMultiple(of: divisor) }
    var taken: [Int] = []
    while let element = queue.popFirst() { taken.append(element) }
    #expect(taken == elements.filter { !$0.isMultiple(of: divisor) }.sorted())
  }
}
