import Foundation
import Glibc
import Testing

@testable import Darkroom

@Suite struct MailboxTests {
  @Test("every message of many threads arrives once, each thread's in order")
  func threads() throws {
    let mailbox = try Mailbox<(Int, Int)>()
    let (threads, each) = (8, 2000)
    for thread in 0..<threads {
      Thread.detachNewThread { for number in 0..<each { mailbox.post((thread, number)) } }
    }
    var next = Array(repeating: 0, count: threads)
    while next.reduce(0, +) < threads * each {
      mailbox.wait(alongside: -1, seconds: nil)
      for (thread, number) in mailbox.collect() {
        #expect(next[thread] == number)
        next[thread] = number + 1
      }
    }
    #expect(mailbox.collect().isEmpty)
  }

  @Test("a message that came before the wait ends it at once")
  func before() throws {
    let mailbox = try Mailbox<Int>()
    mailbox.post(1)
    mailbox.wait(alongside: -1, seconds: nil)
    #expect(mailbox.collect() == [1])
  }

  @Test("another descriptor ends the wait, and so does time")
  func alongside() throws {
    let mailbox = try Mailbox<Int>()
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data([1]))
    mailbox.wait(alongside: pipe.fileHandleForReading.fileDescriptor, seconds: nil)
    mailbox.wait(alongside: -1, seconds: 0)
    mailbox.wait(alongside: -1, seconds: -5)
    mailbox.wait(alongside: -1, seconds: 0.001)
    #expect(mailbox.collect().isEmpty)
  }
}
