import Foundation

/// Which sanitizer the tests were built with.
package enum Sanitizer {
  /// The thread sanitizer keeps what it knows in a file, and dies under a limit on the size of files.
  package static let isThread = dlsym(nil, "__tsan_init") != nil

  /// Any of those that replace functions of the C library, and make the program several times slower.
  package static let isAny = isThread || dlsym(nil, "__asan_init") != nil
}
