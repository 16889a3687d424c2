import Foundation
import Glibc
import Testing

@testable import System

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

  @Test("a closed mailbox refuses messages, gives those that it had, and ends every wait")
  func closed() throws {
    let mailbox = try Mailbox<Int>()
    #expect(mailbox.post(1))
    Thread.detachNewThread { mailbox.close() }
    while !mailbox.isClosed { mailbox.wait { _ in false } }
    #expect(!mailbox.post(2))
    #expect(mailbox.collect() == [1])
    mailbox.wait()
    #expect(mailbox.collect().isEmpty)
  }

  @Test("a message makes the descriptor readable only while the reader waits by it")
  func descriptor() throws {
    let mailbox = try Mailbox<Int>()
    func isReadable(_ descriptor: Int32) -> Bool {
      var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      return poll(&watched, 1, 0) == 1
    }
    mailbox.post(0)
    mailbox.wait { _ in
      Issue.record("there is a message already")
      return false
    }
    #expect(mailbox.collect() == [0])
    var wasReadable = [Bool]()
    mailbox.wait { descriptor in
      wasReadable.append(isReadable(descriptor))
      mailbox.post(1)
      wasReadable.append(isReadable(descriptor))
      return isReadable(descriptor)
    }
    #expect(wasReadable == [false, true])
    mailbox.post(2)
    #expect(mailbox.collect() == [1, 2])
    mailbox.wait { descriptor in
      #expect(!isReadable(descriptor), "the first signal was taken, the second message gave none")
      return false
    }
  }
}
