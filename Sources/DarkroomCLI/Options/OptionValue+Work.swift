import Darkroom
import Foundation
import Imaging
import Model
import Planning
import System
import Transfer

extension OptionValue where Value == Recipe {
  static var recipe: OptionValue {
    @Sendable func parse(_ text: String, _ named: NamedRecipes) throws -> Recipe {
      do {
        return try Recipe(parsing: text, named: named)
      } catch {
        throw UsageError("must be a list of filters such as sepia(0.8): \(error)")
      }
    }
    var value = OptionValue(name: "RECIPE", parse: { try parse($0, NamedRecipes()) }, text: { $0.description })
    value.parseBeside = { try parse($0, $1.configuration.recipes) }
    return value
  }
}

extension OptionValue where Value == ImageFormat? {
  /// The format of results; nil is `keep`.
  static var format: OptionValue {
    OptionValue<OutputFormatName>.choice.mapped({ $0.format }) { format in
      OutputFormatName.allCases.first { $0.format == format } ?? .keep
    }
  }
}

extension OptionValue where Value == [Network] {
  /// Networks, separated by commas; they add up when the option is repeated.
  static var networks: OptionValue {
    OptionValue(name: "CIDR", isRepeatable: true) { text in
      try text.split(separator: ",").map { part in
        do throws(ParseError) {
          return try Network(parsing: part.trimmingCharacters(in: .whitespaces))
        } catch {
          throw UsageError("must be networks separated by commas: \(error.message)")
        }
      }
    } text: { networks in
      networks.isEmpty ? nil : networks.map(\.description).joined(separator: ",")
    } combined: {
      $0 + $1
    }
  }
}

extension OptionValue where Value == DownloadLimit {
  /// A number, or `auto`.
  static var downloadLimit: OptionValue {
    OptionValue<HostLimit>.hostLimit.mapped({ $0 == .auto ? .auto : .fixed($0.connections) }) { limit in
      if case .fixed(let number) = limit { HostLimit(fixed: number) } else { .auto }
    }
  }
}

extension OptionValue where Value == HostLimit {
  /// A number for all protocols, or `auto`.
  static var hostLimit: OptionValue {
    let whole = OptionValue<Int>.whole(1...1024)
    return OptionValue(name: "N|auto", limits: whole.limits) { text in
      if text.lowercased() == "auto" { return .auto }
      guard let number = try? whole.parse(text) else {
        throw UsageError("must be auto or a whole number from 1 to 1024, not \"\(text)\"")
      }
      return HostLimit(fixed: number)
    } text: {
      $0 == .auto ? "auto" : String($0.connections)
    }
  }
}

extension OptionValue where Value == Proxy {
  static var proxy: OptionValue {
    OptionValue(name: "URL") { text in
      do throws(ParseError) {
        return try Proxy(parsing: text)
      } catch {
        throw UsageError(error.message)
      }
    } text: { _ in
      nil
    }  // It may hold secrets.
  }
}

extension OptionValue where Value == Webhook {
  static var webhook: OptionValue {
    OptionValue(name: "URL") { text in
      do throws(ParseError) {
        return try Webhook(parsing: text)
      } catch {
        throw UsageError(error.message)
      }
    } text: { _ in
      nil
    }  // It may hold secrets.
  }
}

extension OptionValue where Value == String {
  /// Text that may be the value of a header of a request.
  static var userAgent: OptionValue {
    OptionValue(name: "TEXT") { text in
      guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f }) else {
        throw UsageError("must not hold control characters")
      }
      return text
    } text: {
      $0.replacing(Darkroom.version, with: "VERSION")
    }
  }

  /// A folder that commands which need it check: see `Settings.checkFileRoot`.
  static var folderPath: OptionValue {
    OptionValue(name: "DIR") { text in
      guard !text.isEmpty else { throw UsageError("must not be empty") }
      return (try? Folder.resolvedWhenCreated(text)) ?? text
    } text: {
      $0
    }
  }
}

extension OptionValue where Value == Settings.FolderSetting {
  static var folder: OptionValue {
    OptionValue(name: "DIR") {
      Settings.FolderSetting(path: $0, isNamed: true)
    } text: {
      $0.path
    }
  }
}
