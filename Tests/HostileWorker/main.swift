import Glibc
import Imaging
import Operations
import System

// A decoding worker that does what a picture would have it do that has taken it over. Such a picture says so: it begins with
// "HOSTILE " and the name of the deed. Others are decoded.

/// What the kernel says to a system call: a failed entry with errno.
func tried(_ name: String, _ result: Int) -> ImagingError {
  ImagingError(code: .filterFailed, message: "\(name): \(result < 0 ? "errno \(errno)" : "done")")
}

/// Says something over the socket that the parent waits at.
func say(_ bytes: [UInt8]) { _ = write(3, bytes, bytes.count) }

/// The reply of a worker that has made a PNG of so many columns.
func finished(width: Int, height: Int = 1, previewBytes: Int = 0) -> [UInt8] {
  func bytes(_ numbers: [Int]) -> [UInt8] { numbers.flatMap { withUnsafeBytes(of: Int64($0)) { Array($0) } } }
  let picture = [UInt8(1)] + bytes([width, height, 1])
  // No damage.
  return [2] + picture + picture + bytes([previewBytes]) + [0, 0]
}

let png = ImageInfo(format: .png, width: 1, height: 1)
let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0, 0, 0, 0, 0]
nonisolated(unsafe) var kept: Int32 = -1

/// Writes the beginning of a PNG, as a result.
func succeed(_ result: Int32) -> ImagePassResult {
  _ = write(result, signature, signature.count)
  return ImagePassResult(source: png, output: png)
}

func perform(_ deed: String, _ source: Int32, _ result: Int32) throws(ImagingError) -> ImagePassResult {
  switch deed {
  case "open": throw tried(deed, Int(open("/etc/passwd", O_RDONLY)))
  case "create": throw tried(deed, Int(open("/tmp/hostile", O_RDWR | O_CREAT, 0o600)))
  case "stat":
    var status = stat()
    throw tried(deed, Int(stat("/etc/passwd", &status)))
  case "share":
    let memory = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
    throw tried(deed, memory == MAP_FAILED ? -1 : 0)
  case "execute memory":
    let memory = mmap(nil, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    throw tried(deed, memory == MAP_FAILED ? -1 : 0)
  case "thread":
    var thread = pthread_t()
    let failure = pthread_create(&thread, nil, { _ in nil }, nil)
    errno = failure
    throw tried(deed, failure == 0 ? 0 : -1)
  case "limit":
    var limit = rlimit(rlim_cur: .max, rlim_max: .max)
    throw tried(deed, Int(setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit)))
  case "connect": throw tried(deed, Int(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)))
  case "execve":
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/true"), nil]
    throw tried(deed, Int(execv("/bin/true", &arguments)))
  case "ptrace":
    // Swift does not import variadic functions.
    typealias Trace = @convention(c) (Int, Int, Int, Int) -> Int
    let trace = unsafeBitCast(dlsym(nil, "ptrace"), to: Trace.self)
    throw tried(deed, trace(16 /* PTRACE_ATTACH */, Int(getppid()), 0, 0))
  case "kill": throw tried(deed, Int(kill(getppid(), 0)))
  case "remove": throw tried(deed, Int(unlink("/etc/hostile")))
  case "abort": abort()
  case "end": _exit(0)
  case "kill itself": throw tried(deed, Int(raise(SIGKILL)))
  case "stop itself": throw tried(deed, Int(raise(SIGSTOP)))
  case "loop": while true {}
  case "sleep": while true { sleep(1000) }
  case "allocate":
    while true { memset(UnsafeMutableRawPointer.allocate(byteCount: 16 << 20, alignment: 16), 1, 16 << 20) }
  case "garbage": say([9, 9, 9])
  case "long garbage": say([UInt8](repeating: 2, count: 100_000))
  case "nothing": say([])
  case "lie": say(finished(width: 2_000_000_000))
  case "preview of a small picture":
    say(finished(width: 1, previewBytes: 4))
    say([0xFF, 0xD8, 0xFF, 0xD9])
  case "too large a preview": say(finished(width: 1500, height: 1001, previewBytes: 1 << 20))
  case "more of a preview", "less of a preview":
    say(finished(width: 1500, height: 1001, previewBytes: 100))
    say([UInt8](repeating: 0, count: deed.hasPrefix("more") ? 1000 : 10))
  case "no preview": say(finished(width: 1500, height: 1001, previewBytes: 100))
  case "false preview":
    _ = write(result, signature, signature.count)
    let large = ImageInfo(format: .png, width: 1500, height: 1001)
    return ImagePassResult(source: large, output: large, preview: Array("<script>".utf8))
  case "demand all": say([1] + [UInt8](repeating: 0x7f, count: 16))
  case "escape": say([3, 0] + [UInt8](repeating: 0, count: 8) + Array("\u{1b}[2J".utf8))
  case "end later":
    _ = write(result, signature, signature.count)
    close(source)
    close(result)
    say(finished(width: 1))
    _exit(0)
  case "abort once":
    // The second worker gets the same open file.
    if lseek(source, 0, SEEK_CUR) == 0 {
      lseek(source, 1, SEEK_SET)
      abort()
    }
    return succeed(result)
  case "be killed", "be killed once":
    if deed == "be killed once", lseek(source, 0, SEEK_CUR) > 0 { return succeed(result) }
    lseek(source, 1, SEEK_SET)
    // For whoever kills it.
    let name = Array("\(getpid()) ".utf8)
    _ = write(result, name, name.count)
    while true { sleep(1000) }
  case "wait":
    // The parent has the same open file.
    while lseek(source, 0, SEEK_CUR) == 0 { usleep(1000) }
    return succeed(result)
  case "keep":
    kept = fcntl(result, F_DUPFD_CLOEXEC, 0)
    return succeed(result)
  case "alter":
    let altered = write(kept, "altered", 7)
    throw tried(deed, altered)
  case "no picture":
    _ = write(result, "<script>", 8)
    return ImagePassResult(source: png, output: png)
  default: throw ImagingError(code: .filterFailed, message: "no such deed: \(deed)")
  }
  sleep(1000)
  abort()
}

DecodingWorker.run(Array(CommandLine.arguments.dropFirst(2))) {
  task, source, result, memory, reserve throws(ImagingError) in
  var head = [UInt8](repeating: 0, count: 64)
  let count = pread(source, &head, head.count, 0)
  let text = String(decoding: head.prefix(max(0, count)), as: UTF8.self)
  guard text.hasPrefix("HOSTILE ") else {
    return try task.perform(from: source, to: result, memory: memory, reserve: reserve)
  }
  return try perform(String(text.dropFirst(8)), source, result)
}
