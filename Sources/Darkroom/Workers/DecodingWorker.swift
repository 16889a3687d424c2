import Glibc
import Imaging
import Sandbox
import System

/// The program as a worker: it gets tasks with their files over a socket, and nothing else. All workers are forks of a
/// process that has done what every one would have to do first (`ForkServer`).
package struct DecodingWorker {
  /// The first argument of the program when it is a worker.
  package static var command: String { DecodingClient.command }

  /// Does a task; tests do something else.
  package typealias Perform = (
    _ task: DecodingTask, _ source: Int32, _ result: Int32, _ memory: WholePictureMemory, _ reserve: ImagePass.Reserve
  ) throws(ImagingError) -> ImagePassResult

  /// Pictures up to so many pixels are not announced: their time is that of a megapixel at most.
  private static let smallPixels = 1_000_000

  private let socket = MessageSocket.inWorker
  private let memory = WholePictureMemory(limit: .max)
  private let perform: Perform
  private var lastRecipe: (text: String, recipe: Recipe)?

  /// Has workers forked of the process, and works as each of them, confined, until its parent has ended.
  /// - Parameter arguments: Those after the command.
  package static func run(
    _ arguments: [String],
    perform: @escaping Perform = { task, source, result, memory, reserve throws(ImagingError) in
      try task.perform(from: source, to: result, memory: memory, reserve: reserve)
    }
  ) -> Never {
    guard let limits = ProcessLimits(arguments: arguments) else { exit(64) }
    Allocator.keepMemory()
    // What is opened when it is first needed is needed now.
    _ = Clock.monotonicSeconds
    prepare()
    let confinement = ForkServer.serve(limits)
    var worker = DecodingWorker(perform: perform)
    guard worker.socket.write(DecodingReply.ready(confinement).message) else { _exit(0) }
    while worker.doNext() {}
    _exit(0)
  }

  private init(perform: @escaping Perform) { self.perform = perform }

  /// Does the next task.
  /// - Returns: Whether there may be another.
  private mutating func doNext() -> Bool {
    guard let (bytes, descriptors) = socket.receiveWithDescriptors() else { return false }
    guard let task = DecodingTask(bytes, recipe: { recipe($0) }),
      descriptors.count == 2
    else { return false }
    let (reply, preview) = reply(to: task, source: descriptors[0], result: descriptors[1])
    // Whoever gets the reply is the only one that has the files.
    for descriptor in descriptors { close(descriptor) }
    return socket.write(reply.message) && (preview.isEmpty || socket.write(preview))
  }

  private func reply(
    to task: DecodingTask, source: Int32, result: Int32
  ) -> (DecodingReply, preview: [UInt8]) {
    // A lack of memory that ends the process is told by it.
    errno = 0
    do throws(ImagingError) {
      let result = try perform(task, source, result, memory) { demand throws(ImagingError) in try announce(demand) }
      let preview = result.preview ?? []
      return (.finished(result, previewBytes: preview.count), preview)
    } catch {
      return (.failed(error), [])
    }
  }

  /// Tells what is about to be done, and waits for leave when that takes memory.
  private func announce(_ demand: PassDemand) throws(ImagingError) {
    guard demand.heldBytes > 0 || demand.pixels > Self.smallPixels else { return }
    guard socket.write(DecodingReply.demand(demand).message) else { _exit(0) }
    guard demand.heldBytes > 0 else { return }
    guard let (answer, _) = socket.receiveWithDescriptors() else { _exit(0) }
    // The parent knows why.
    guard answer == [1] else { throw ImagingError(code: .imageTooLarge, message: "no leave to take memory") }
  }

  /// Parses a recipe, or takes the last one: most entries have the same.
  private mutating func recipe(_ text: String) -> Recipe? {
    if let lastRecipe, lastRecipe.text == text { return lastRecipe.recipe }
    guard let recipe = try? Recipe(parsing: text) else { return nil }
    lastRecipe = (text, recipe)
    return recipe
  }
}
