import Glibc
import Imaging
import Sandbox
import System

/// The program as a worker, which receives tasks and files over a socket. All workers are forks of a process that has
/// done the common initialization (`ForkServer`).
package struct DecodingWorker {
  /// The first argument of the program when it is a worker.
  package static var command: String { DecodingClient.command }

  /// Performs a task. Tests replace it.
  package typealias Perform = (
    _ task: DecodingTask, _ source: Int32, _ result: Int32, _ memory: WholePictureMemory, _ reserve: ImagePass.Reserve
  ) throws(ImagingError) -> ImagePassResult

  /// The most pixels of a picture that is not announced. Its time is at most that of a megapixel.
  private static let smallPixels = 1_000_000
  /// The most bytes held of a picture that are not announced: the worker's own memory has room for them.
  private static let smallBytes = 2 << 20

  private let socket = MessageSocket.inWorker
  private let memory = WholePictureMemory(limit: .max)
  private let perform: Perform
  private var lastRecipe: (text: String, recipe: Recipe)?

  /// Forks workers from the process. Each runs confined until its parent ends.
  /// - Parameter arguments: The arguments after the command.
  package static func run(
    _ arguments: [String],
    perform: @escaping Perform = { task, source, result, memory, reserve throws(ImagingError) in
      try task.perform(from: source, to: result, memory: memory, isConfined: true, reserve: reserve)
    }
  ) -> Never {
    let loadsLargeLibraries = arguments.last == DecodingClient.largeLibraries
    guard let limits = ProcessLimits(arguments: loadsLargeLibraries ? arguments.dropLast() : arguments) else {
      exit(64)
    }
    Allocator.keepMemory()
    // Files that are opened on first use are opened now.
    _ = Clock.monotonicSeconds
    for library in CodecLibraries.optional where loadsLargeLibraries || !library.isLarge { _ = library.isLoaded }
    prepare()
    let confinement = ForkServer.serve(limits)
    var worker = DecodingWorker(perform: perform)
    guard worker.socket.write(DecodingReply.ready(confinement).message) else { _exit(0) }
    while worker.doNext() {}
    _exit(0)
  }

  private init(perform: @escaping Perform) { self.perform = perform }

  /// Performs the next task.
  /// - Returns: Whether there may be another one.
  private mutating func doNext() -> Bool {
    guard let (bytes, descriptors) = socket.receiveWithDescriptors() else { return false }
    guard let task = DecodingTask(bytes, recipe: { recipe($0) }),
      descriptors.count == 2
    else { return false }
    let (reply, preview) = reply(to: task, source: descriptors[0], result: descriptors[1])
    // The files are closed before the reply, so that the recipient has the only descriptors.
    for descriptor in descriptors { close(descriptor) }
    return socket.write(reply.message) && (preview.isEmpty || socket.write(preview))
  }

  private func reply(
    to task: DecodingTask, source: Int32, result: Int32
  ) -> (DecodingReply, preview: [UInt8]) {
    // When a lack of memory ends the process, errno shows it.
    errno = 0
    do throws(ImagingError) {
      let result = try perform(task, source, result, memory) { demand throws(ImagingError) in try announce(demand) }
      let preview = result.preview ?? []
      return (.finished(result, previewBytes: preview.count), preview)
    } catch {
      return (.failed(error), [])
    }
  }

  /// Announces a demand, unless it is small, and waits for a grant if it includes memory.
  private func announce(_ demand: PassDemand) throws(ImagingError) {
    let needsGrant = demand.heldBytes > Self.smallBytes
    guard needsGrant || demand.pixels > Self.smallPixels else { return }
    let announced = PassDemand(heldBytes: needsGrant ? demand.heldBytes : 0, pixels: demand.pixels)
    guard socket.write(DecodingReply.demand(announced).message) else { _exit(0) }
    guard needsGrant else { return }
    guard let (answer, _) = socket.receiveWithDescriptors() else { _exit(0) }
    // The parent reports the reason.
    guard answer == [1] else { throw ImagingError(code: .imageTooLarge, message: "memory was not granted") }
  }

  /// Parses a recipe, or reuses the last one, since most entries have the same.
  private mutating func recipe(_ text: String) -> Recipe? {
    if let lastRecipe, lastRecipe.text == text { return lastRecipe.recipe }
    guard let recipe = try? Recipe(parsing: text) else { return nil }
    lastRecipe = (text, recipe)
    return recipe
  }

  /// Converts a small picture to every format without a large library, so that the initialization of the libraries and the
  /// Swift runtime is done for all workers. Errors are ignored.
  static func prepare() {
    let memory = WholePictureMemory(limit: 1 << 20)
    guard let recipe = try? Recipe(parsing: "sepia(0.8)"), var source = try? OpenFile(inMemory: "pixel"),
      (try? pixel.withUnsafeBytes({ try source.write($0) })) != nil
    else { return }
    for format in ImageFormat.allCases where format.isWritable && !format.needsLargeLibrary {
      guard let result = try? OpenFile(inMemory: "pixel") else { return }
      let task = DecodingTask(recipe, OutputOptions(format: format), limits: ImageLimits(maxPixels: 1))
      _ = try? task.perform(from: source.descriptor, to: result.descriptor, memory: memory) { _ in }
      source = result
    }
  }

  /// A PNG of one pixel.
  private static let pixel: [UInt8] = [
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
    0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53, 0xDE, 0x00, 0x00, 0x00,
    0x0C, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0x68, 0x68, 0x68, 0x00, 0x00, 0x03, 0x04, 0x01, 0x81, 0x4B,
    0xD3, 0xD2, 0x10, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
  ]
}
