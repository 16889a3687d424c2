/// What can be averaged: a sample, or the channels of a pixel.
protocol BlurSample: BitwiseCopyable {
  static var zero: Self { get }
  static func + (a: Self, b: Self) -> Self
  static func - (a: Self, b: Self) -> Self
  static func * (a: Self, b: Float) -> Self
  static func + (a: Self, b: Float) -> Self
  static func - (a: Self, b: Float) -> Self
}

extension Float: BlurSample {}
extension SIMD4<Float>: BlurSample {}
