import Testing

@testable import Transfer

@Suite struct RateLimiterTests {
  @Test(arguments: [(100, 65_536.0), (1 << 20, 65_536), (10_000_000, 500_000)])
  func `a pause earns 64 KiB or 50 ms, whichever is more`(rate: Int, burst: Double) {
    for start in [0.0, 1e5] {
      var budget = ByteBudget(rate: rate, now: start)
      let now = start + 1e6
      budget.spend(Int(burst) - 1, now: now)
      #expect(budget.isOpen(now))
      budget.spend(1, now: now)
      #expect(!budget.isOpen(now))
    }
  }

  @Test func `a debt is paid by time`() {
    var budget = ByteBudget(rate: 1000, now: 5)
    budget.spend(65_536 + 2000, now: 5)
    #expect(!budget.isOpen(6.9))
    #expect(budget.isOpen(7.1))
    #expect(abs(budget.opens - 7.02) < 1e-9, "20 ms more, so that not each piece waits anew")
    budget.spend(0, now: 1)
    #expect(abs(budget.opens - 7.02) < 1e-9, "a clock that goes back earns nothing")
  }

  /// Receives pieces of 16 KiB until a time; returns how many bytes each transfer has received.
  private func simulate(_ rates: RateLimiter<Int>, _ hosts: [String], until end: Double) -> [Int] {
    var received = Array(repeating: 0, count: hosts.count)
    var now = 0.0
    func run(_ id: Int) {
      while rates.receive(16_384, by: id, of: hosts[id], now: now) { received[id] += 16_384 }
    }
    for id in hosts.indices { run(id) }
    while rates.due <= end {
      now = max(now, rates.due)
      while let id = rates.next(now: now) { run(id) }
    }
    return received
  }

  @Test(arguments: [1000, 100_000, 1_000_000, 50_000_000])
  func `transfers share a rate, and keep to it together`(rate: Int) {
    let rates = RateLimiter<Int>(total: rate, now: 0)
    let received = simulate(rates, ["a", "a", "b", "c"], until: 100)
    let sum = Double(received.reduce(0, +))
    let allowed = Double(rate) * 100 + max(65_536, Double(rate) / 20)
    #expect(sum > 0.98 * Double(rate) * 100)
    #expect(sum <= allowed + 16_384)
    // What may arrive at once goes to the first.
    let burst = max(65_536, Double(rate) / 20)
    #expect(Double((received.max() ?? 0) - (received.min() ?? 0)) < 0.05 * sum / 4 + burst + 2 * 16_384)
  }

  @Test func `a host at its limit delays no other host`() {
    let rates = RateLimiter<Int>(total: 1_000_000, now: 0)
    rates.limit("slow", to: 10_000, now: 0)
    let received = simulate(rates, ["slow", "slow", "fast"], until: 10)
    #expect(received[0] + received[1] <= 10_000 * 10 + 65_536 + 16_384)
    #expect(received[2] > 9_700_000)
  }

  @Test func `only limited hosts are limited`() {
    let rates = RateLimiter<Int>(total: nil, now: 0)
    #expect(rates.rate("a") == nil)
    rates.limit("a", to: 7, now: 0)
    #expect(rates.rate("a") == 7)
    #expect(rates.rate("b") == nil)
    rates.limit("a", to: nil, now: 0)
    #expect(rates.rate("a") == nil)
    #expect(RateLimiter<Int>(total: 1, now: 0).rate("b") == 1)
  }

  @Test func `a paused transfer that ends is not continued`() {
    let rates = RateLimiter<Int>(total: 1000, now: 0)
    for id in 0..<3 { rates.begin("a"); _ = rates.receive(id == 0 ? 70_000 : 1, by: id, of: "a", now: 0) }
    rates.end(1, of: "a", now: 1)
    #expect(rates.next(now: 1) == nil)
    #expect(rates.next(now: 100) == 2)
    #expect(rates.next(now: 100) == nil)
    #expect(rates.due == .infinity)
  }
}
