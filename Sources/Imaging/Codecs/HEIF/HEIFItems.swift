/// The items of a HEIF file, from its `meta` box (ISO/IEC 14496-12 § 8.11, 23008-12): coded pictures, grids of them, and
/// metadata, with their properties.
struct HEIFItems {
  struct Item {
    /// `hvc1`, `av01`, `grid`, `Exif`, `mime`…
    var type = ""
    /// Of items of the type `mime`.
    var contentType = ""
    /// The offset of the item's type in the file, and of its content type, if it has one.
    var typeOffset: Int64 = 0
    var contentTypeOffset: Int64?
    /// Where its data are in the file.
    var extents: [Range<Int64>] = []
    /// Its properties, in the order in which they apply.
    var properties: [Int] = []
  }

  /// A reference from one item to others, by the name of its meaning.
  struct Reference {
    let type: String
    let from: Int
    let to: [Int]
  }

  struct Property {
    let type: String
    let content: HEIFReader
  }

  private(set) var primary: Int?
  private(set) var items: [Int: Item] = [:]
  private(set) var references: [Reference] = []
  /// The first one has the index 1.
  private(set) var properties: [Property] = []
  /// The content of the `idat` box in the file, in which items may have their data.
  private(set) var itemData: Range<Int64>?

  /// The largest numbers that are read. More are an attack.
  private static let (maxItems, maxExtents, maxProperties) = (20_000, 40_000, 40_000)

  /// - Parameters:
  ///   - content: The content of the `meta` box, after its version and flags.
  ///   - offset: The offset of the slice's index 0 in the file.
  /// - Throws: `image-corrupt`.
  init(_ content: HEIFReader, at offset: Int64) throws(ImagingError) {
    var (content, locations) = (content, HEIFReader?.none)
    while let box = try content.box() {
      switch box.type {
      case "pitm": primary = try Self.primary(box.content)
      case "iinf": try readInformation(box.content, at: offset)
      case "iloc": locations = locations ?? box.content
      case "iref": try readReferences(box.content)
      case "iprp": try readProperties(box.content)
      case "idat":
        let range = box.content.rest.indices
        itemData = (offset + Int64(range.lowerBound))..<(offset + Int64(range.upperBound))
      default: break
      }
    }
    if let locations { try readLocations(locations) }
  }

  /// The values of an item's properties of a type, in order.
  func properties(_ type: String, of item: Item) -> [HEIFReader] {
    item.properties.compactMap { index in
      guard properties.indices.contains(index - 1), properties[index - 1].type == type else { return nil }
      return properties[index - 1].content
    }
  }

  /// The items that refer to an item.
  func sources(_ type: String, to item: Int) -> [Int] {
    references.filter { $0.type == type && $0.to.contains(item) }.map(\.from)
  }

  /// The items that an item refers to.
  func targets(_ type: String, of item: Int) -> [Int] {
    references.first { $0.type == type && $0.from == item }?.to ?? []
  }

  private static func primary(_ content: HEIFReader) throws(ImagingError) -> Int {
    var content = content
    guard let (version, _) = content.versionAndFlags(), let item = content.integer(version == 0 ? 2 : 4) else {
      throw .shortBox("pitm")
    }
    return item
  }

  private mutating func readInformation(_ content: HEIFReader, at offset: Int64) throws(ImagingError) {
    var content = content
    guard let (version, _) = content.versionAndFlags(), content.integer(version == 0 ? 2 : 4) != nil else {
      throw .shortBox("iinf")
    }
    while let box = try content.box() {
      guard box.type == "infe" else { continue }
      var entry = box.content
      guard let (version, _) = entry.versionAndFlags() else { throw .shortBox("infe") }
      // Older versions have no types, and do not occur in pictures.
      guard version >= 2 else { continue }
      guard let number = entry.integer(version == 2 ? 2 : 4), entry.integer(2) != nil else { throw .shortBox("infe") }
      let typeOffset = offset + Int64(entry.rest.startIndex)
      guard let itemType = entry.text(4) else { throw .shortBox("infe") }
      var item = items[number] ?? Item()
      (item.type, item.typeOffset) = (itemType, typeOffset)
      _ = entry.text()
      if itemType == "mime" {
        item.contentTypeOffset = offset + Int64(entry.rest.startIndex)
        item.contentType = entry.text()
      }
      items[number] = item
      guard items.count <= Self.maxItems else { throw .heif("it has more than \(Self.maxItems) items") }
    }
  }

  private mutating func readReferences(_ content: HEIFReader) throws(ImagingError) {
    var (content, count) = (content, 0)
    guard let (version, _) = content.versionAndFlags() else { throw .shortBox("iref") }
    let bytes = version == 0 ? 2 : 4
    while let box = try content.box() {
      var reader = box.content
      guard let from = reader.integer(bytes), let targets = reader.integer(2) else { throw .shortBox("iref") }
      count += targets
      guard count <= Self.maxExtents else { throw .heif("it has more than \(Self.maxExtents) references") }
      var to: [Int] = []
      for _ in 0..<targets {
        guard let item = reader.integer(bytes) else { throw .shortBox("iref") }
        to.append(item)
      }
      references.append(Reference(type: box.type, from: from, to: to))
    }
  }

  private mutating func readProperties(_ content: HEIFReader) throws(ImagingError) {
    var (content, associations) = (content, [HEIFReader]())
    while let box = try content.box() {
      switch box.type {
      case "ipco":
        var content = box.content
        while let property = try content.box() {
          properties.append(Property(type: property.type, content: property.content))
          guard properties.count <= Self.maxProperties else {
            throw .heif("it has more than \(Self.maxProperties) properties")
          }
        }
      case "ipma": associations.append(box.content)
      default: break
      }
    }
    var count = 0
    for var box in associations {
      guard let (version, flags) = box.versionAndFlags(), let entries = box.integer(4) else { throw .shortBox("ipma") }
      for _ in 0..<entries {
        guard let number = box.integer(version < 1 ? 2 : 4), let amount = box.integer(1) else {
          throw .shortBox("ipma")
        }
        count += amount
        guard count <= Self.maxProperties else {
          throw .heif("its items have more than \(Self.maxProperties) properties")
        }
        for _ in 0..<amount {
          guard let index = box.integer(flags & 1 == 0 ? 1 : 2) else { throw .shortBox("ipma") }
          // The highest bit says whether readers have to know the property.
          items[number]?.properties.append(index & (flags & 1 == 0 ? 0x7F : 0x7FFF))
        }
      }
    }
  }

  private mutating func readLocations(_ content: HEIFReader) throws(ImagingError) {
    var (content, extents) = (content, 0)
    guard let (version, _) = content.versionAndFlags(), let sizes = content.integer(2),
      let count = content.integer(version < 2 ? 2 : 4)
    else { throw .shortBox("iloc") }
    let (offsetBytes, lengthBytes, baseBytes) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
    let indexBytes = version == 0 ? 0 : sizes & 15
    guard [offsetBytes, lengthBytes, baseBytes, indexBytes].allSatisfy({ [0, 4, 8].contains($0) }) else {
      throw .heif("its offsets are of a size that there is not")
    }
    for _ in 0..<count {
      guard let number = content.integer(version < 2 ? 2 : 4),
        let method = version == 0 ? 0 : content.integer(2), content.integer(2) != nil,
        let base = content.integer(baseBytes), let amount = content.integer(2)
      else { throw .shortBox("iloc") }
      extents += amount
      guard extents <= Self.maxExtents else { throw .heif("its items have more than \(Self.maxExtents) parts") }
      for _ in 0..<amount {
        guard content.integer(indexBytes) != nil, let offset = content.integer(offsetBytes),
          let length = content.integer(lengthBytes)
        else { throw .shortBox("iloc") }
        if let extent = try extent(base, offset, length, method: method & 15) { items[number]?.extents.append(extent) }
      }
    }
  }

  /// A part of an item's data; nil for those that are made from other items.
  private func extent(_ base: Int, _ offset: Int, _ length: Int, method: Int) throws(ImagingError) -> Range<Int64>? {
    let start: Int64
    switch method {
    case 0: start = 0
    case 1:
      guard let itemData else { throw .heif("an item's data are in a box that is missing") }
      start = itemData.lowerBound
    default: return nil
    }
    let (sum, overflow) = base.addingReportingOverflow(offset)
    let (first, overflows) = start.addingReportingOverflow(Int64(sum))
    let (end, endOverflows) = first.addingReportingOverflow(Int64(length))
    guard !overflow, !overflows, !endOverflows else { throw .heif("an item's data are behind the end of every file") }
    return first..<end
  }
}

extension ImagingError {
  fileprivate static func shortBox(_ type: String) -> ImagingError { .heif("the box \(type) is too short") }
}
