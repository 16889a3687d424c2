import CFuzzer
import Foundation
import Imaging

/// One recipe. It is refused at a place within the text, or its canonical text is a recipe and itself again.
func readRecipe(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let text = String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
  do throws(RecipeError) {
    let recipe = try Recipe(parsing: text)
    let again = try Recipe(parsing: recipe.description)
    precondition(again == recipe, "\(text.debugDescription)")
    precondition(!recipe.explanation.isEmpty)
  } catch {
    precondition(error.offset <= text.utf8.count, "\(text.debugDescription)")
  }
  return 0
}

@main
enum RecipeFuzz {
  static func main() {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    exit(LLVMFuzzerRunDriver(&count, &arguments, readRecipe))
  }
}
