import Testing

@testable import Scheduling

@Suite struct AdmissionWindowTests {
  private let window = AdmissionWindow(downloads: 16, filtrations: 4, descriptors: 1 << 16)

  private func occupancy(entries: Int = 0, downloads: Int = 0, bytes: Int = 0) -> AdmissionWindow.Occupancy {
    var occupancy = AdmissionWindow.Occupancy()
    (occupancy.entries, occupancy.downloads, occupancy.bytes) = (entries, downloads, bytes)
    return occupancy
  }

  @Test func `there is room up to each limit`() {
    #expect(window.entries == 48 && window.downloads == 20 && window.holders == 256)
    #expect(window.hasRoom(occupancy(entries: 47, downloads: 19, bytes: window.bytes - 1), held: 255))
    #expect(!window.hasRoom(occupancy(entries: 48), held: 48))
    #expect(!window.hasRoom(occupancy(downloads: 20), held: 20))
    #expect(!window.hasRoom(occupancy(bytes: window.bytes), held: 1))
  }

  @Test func `room for a higher priority is not taken by lower ones`() {
    #expect(!window.hasRoom(occupancy(entries: 48, downloads: 20, bytes: window.bytes), held: 48), "their own is")
    #expect(window.hasRoom(occupancy(), held: 48))
  }

  @Test func `the limit of those that hold descriptors is the same for every priority`() {
    #expect(window.hasRoom(occupancy(), held: 255))
    #expect(!window.hasRoom(occupancy(), held: 256))
  }

  @Test(arguments: [(1, 1), (4, 4), (6, 6), (16, 6), (200, 6), (256, 1)])
  func `a full window has room again when as many have left as may be downloaded at once, up to six`(
    downloads: Int, refill: Int
  ) {
    let window = AdmissionWindow(downloads: downloads, filtrations: 2, descriptors: 1 << 16)
    #expect(window.refill == refill)
    #expect(window.hasRoom(occupancy(entries: window.entries - 1), held: 1, wasFull: false))
    #expect(!window.hasRoom(occupancy(entries: window.entries - refill + 1), held: 1, wasFull: true))
    #expect(window.hasRoom(occupancy(entries: window.entries - refill), held: 1, wasFull: true))
  }

  @Test(arguments: [1, 6, 16, 64, 190, 200, 204, 205, 256], [64, 100, 256, 300, 1024, 1 << 16])
  func `a window that is being refilled has entries that are downloaded`(downloads: Int, descriptors: Int) {
    let window = AdmissionWindow(downloads: downloads, filtrations: 2, descriptors: descriptors)
    #expect(window.refill == 1 || window.entries - window.refill >= window.downloads)
  }

  @Test(arguments: [(64, 2), (67, 2), (100, 9), (256, 48), (1088, 256), (1 << 20, 256)])
  func `few descriptors make a small window`(descriptors: Int, holders: Int) {
    let window = AdmissionWindow(downloads: 1000, filtrations: 100, descriptors: descriptors)
    #expect(window.holders == holders)
    #expect(window.entries == holders && window.downloads == holders)
    #expect(window.refill == 1, "nothing but downloads can fill it")
  }
}
