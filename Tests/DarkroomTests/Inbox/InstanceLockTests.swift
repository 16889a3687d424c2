import Foundation
import Glibc
import TestSupport
import Testing

@testable import Darkroom

@Suite struct InstanceLockTests {
  @Test("an instance's lock is had by one, told with its process, and free when it is released")
  func instanceLock() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("instance")
    do {
      let first = try InstanceLock(file: path, of: "the inbox")
      let error = withExtendedLifetime(first) {
        #expect(throws: StopError.self) { try InstanceLock(file: path, of: "the inbox") }
      }
      #expect(error?.description == "another instance owns the inbox: process \(getpid())")
    }
    _ = try InstanceLock(file: path, of: "the inbox")
  }
}
