/// A large optional value on the heap: what contains it is copied with a reference, and not field by field. In the module of its
/// owners, so that they are compiled without generics.
@propertyWrapper
package struct Indirect<Value: Sendable>: Sendable {
  private final class Box: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
  }

  private var box: Box?

  package init(wrappedValue: Value?) { box = wrappedValue.map(Box.init) }

  package var wrappedValue: Value? {
    get { box?.value }
    set { box = newValue.map(Box.init) }
  }
}
