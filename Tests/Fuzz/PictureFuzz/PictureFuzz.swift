import CFuzzer
import Foundation
import Imaging

/// One picture, copied, and decoded, filtered and encoded: the last byte picks the recipe, the format and what is kept of
/// metadata. It ends in a picture or in an error of the picture, and in nothing else, and the header that is read for a copy
/// is that which the decoder reads.
func filterPicture(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let bytes, count > 0 else { return 0 }
  let choice = Int(bytes[count - 1])
  var limits = ImageLimits(maxPixels: 1 << 20, memory: WholePictureMemory(limit: 64 << 20))
  limits.isConfined = true
  let options = OutputOptions(
    format: [nil, .jpeg, .png, .webp, .avif][choice / recipes.count % 5], quality: choice % 2 == 0 ? 85 : 95,
    jpegCoding: JPEGCoding.allCases[choice / 2 % 3], pngPalette: choice % 4 < 2 ? .off : .lossless,
    metadata: MetadataPolicy.allCases[choice % 3], damaged: choice / 8 % 2 == 0 ? .fail : .accept)
  guard ftruncate(source, 0) == 0, pwrite(source, bytes, count, 0) == count, ftruncate(result, 0) == 0 else { exit(70) }
  lseek(result, 0, SEEK_SET)
  let copy = copyPicture(options.metadata, limits, size: Int64(count))
  do throws(ImagingError) {
    let pass = ImagePass(recipe: recipes[choice % recipes.count], options: options, limits: limits)
    let pictures = try pass.run(from: source, to: result)
    let output = try ImageInfo.probe(result, limits: limits)
    precondition(output == pictures.output)
    // Copies of damaged files are not accepted.
    precondition(options.damaged == .accept && pictures.damage != nil || (try? copy.get()) == pictures.source)
  } catch {
    if options.damaged == .fail, case .failure(let refusal) = copy {
      precondition(refusal.code == error.code, "\(refusal), \(error)")
    }
    precondition(error.code != .io && error.code != .cancelled, "\(error)")
  }
  precondition(limits.memory.bytesInUse == 0)
  return 0
}

/// Copies the picture, whose copy has nothing more to lose.
private func copyPicture(
  _ metadata: MetadataPolicy, _ limits: ImageLimits, size: Int64
) -> Result<ImageInfo, ImagingError> {
  do throws(ImagingError) {
    let copy = try LosslessCopy(of: source, size: size, keeping: metadata, limits: limits)
    let bytes = copy.parts.flatMap { part in
      switch part {
      case .bytes(let bytes): bytes
      case .zeros(let count): [UInt8](repeating: 0, count: count)
      case .range(let range):
        [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
          count = pread(source, buffer.baseAddress, range.count, off_t(range.lowerBound))
          precondition(count == range.count)
        }
      }
    }
    // Read from memory, as small pictures are.
    let again = try LosslessCopy(of: bytes, keeping: metadata, limits: limits)
    precondition(again.isWholeFile && again.info == copy.copiedInfo)
    return .success(copy.info)
  } catch {
    return .failure(error)
  }
}

private let recipes = [
  "sepia(0.8)", "invert(1) contrast(2)", "none", "opacity(0.5)", "resize(fit 6 6)", "resize(exact 13 3)",
  "resize(fill 9 40 enlarge)", "resize(fit 7 7) flop()", "crop(9 5 right) rotate(90)", "rotate(270) flip()",
  "sharpen(2)", "blur(2px)", "drop-shadow(1px -3px 1px red)",
  "crop(30 30) resize(fill 9 40 enlarge) blur(2px) rotate(90) drop-shadow(1px -3px 1px red) sharpen(1)",
].compactMap { try? Recipe(parsing: $0) }
private let source = scratch()
private let result = scratch()

/// An open file without a name.
private func scratch() -> Int32 {
  var path = Array((NSTemporaryDirectory() + "/darkroom-fuzz-XXXXXX").utf8CString)
  let descriptor = mkstemp(&path)
  unlink(path)
  return descriptor
}

@main
enum PictureFuzz {
  static func main() {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    exit(LLVMFuzzerRunDriver(&count, &arguments, filterPicture))
  }
}
