import Foundation
import Imaging
import JSON
import Model
import System

/// The configuration file: a JSON object whose keys are the names of options. Keys that begin with `_` are ignored.
struct ConfigFile {
  let path: String

  /// The values by the option's name, in the file's order. An array is joined by commas.
  let values: [(name: String, value: String)]

  /// Why an existing standard file is not used; nil when it is.
  let obstacle: String?

  /// The value of the key `hosts`, which is not an option: rules for hosts.
  let hosts: JSONValue?

  /// The recipes of the key `recipes`, which is not an option.
  let recipes: NamedRecipes

  /// The keys that are not options.
  static let otherKeys = ["hosts", "recipes"]

  /// Reads the file that `--config` or `DARKROOM_CONFIG` names, else the user's, else the system's; nil without any.
  /// - Parameters:
  ///   - named: The given file, and the option or variable that gives it; nil for the standard ones.
  ///   - isNeeded: Whether a standard file that this user may not read is an error.
  /// - Throws: `StopError.missing` for a file that cannot be read; `UsageError` for one with invalid contents.
  init?(named: (path: String, by: String)?, isNeeded: Bool, environment: [String: String]) throws {
    guard let path = named?.path ?? Self.standardPaths(environment).first(where: FileManager.default.fileExists) else {
      return nil
    }
    self.path = path
    let data: Data
    do {
      data = Self.withoutMark(try OpenFile(reading: path).readAll())
    } catch let error as SystemError where error.cause == .permission && named == nil && !isNeeded {
      (obstacle, values, hosts, recipes) = ("\(error); it is not used", [], nil, NamedRecipes())
      return
    } catch {
      throw StopError.missing((named.map { $0.by + ": " } ?? "") + "\(error)")
    }
    obstacle = nil
    do {
      guard case .object(let members) = try data.withUnsafeBytes({ try JSONDocument(parsing: $0).value() }) else {
        throw UsageError("\(path): the configuration must be a JSON object")
      }
      hosts = members.first { $0.key == "hosts" }?.value
      recipes = try members.first { $0.key == "recipes" }.map { try Self.recipes($0.value, in: path) } ?? NamedRecipes()
      values = try members.filter { !$0.key.hasPrefix("_") && !Self.otherKeys.contains($0.key) }.compactMap {
        // The value of a misspelt key is not checked.
        let option = try Settings.option(forKey: $0.key, in: path)
        // An empty list is the default of the options that are lists.
        if option.isRepeatable, $0.value == .array([]) { return nil }
        return ($0.key, try Self.text($0, isFlag: option.valueName == nil, in: path))
      }
    } catch let error as JSONError {
      throw UsageError("\(path): \(error.code == .empty ? "the file is empty" : "\(error)")")
    }
  }

  /// The text without the byte-order mark that some editors write.
  private static func withoutMark(_ data: Data) -> Data {
    data.starts(with: [0xef, 0xbb, 0xbf]) ? Data(data.dropFirst(3)) : data
  }

  private static func recipes(_ value: JSONValue, in path: String) throws -> NamedRecipes {
    guard case .object(let members) = value else {
      throw UsageError("\(path): \"recipes\" must be an object of names and recipes, not \(value.kind)")
    }
    let texts = try members.filter { !$0.key.hasPrefix("_") }.map { member in
      guard let text = member.value.string else {
        throw UsageError("\(path): \"recipes\": \"\(member.key)\" must be a string, not \(member.value.kind)")
      }
      return (name: member.key, text: text)
    }
    do throws(NamedRecipes.Problem) {
      return try NamedRecipes(parsing: texts)
    } catch {
      throw UsageError("\(path): \"recipes\": \"\(error.name)\": \(error.message)")
    }
  }

  /// The full path of a file that the configuration names: relative paths are relative to the folder of the file.
  static func resolved(_ path: String, in file: String) -> String {
    if path.begins(with: "/") { return path }
    let current = FileManager.default.currentDirectoryPath
    let folder = Folder.parent(of: file.begins(with: "/") ? file : current + "/" + file)
    return (folder == "/" ? "" : folder) + "/" + path
  }

  private static func standardPaths(_ environment: [String: String]) -> [String] {
    // An empty one counts as unset (XDG Base Directory Specification).
    let named = environment["XDG_CONFIG_HOME"].flatMap { $0.isEmpty ? nil : $0 }
    let home = named ?? environment["HOME"].map { $0 + "/.config" }
    return (home.map { [$0 + "/darkroom/config.json"] } ?? []) + ["/etc/darkroom/config.json"]
  }

  /// The value in the form of an option.
  /// - Parameter isFlag: Whether the option has no value on the command line; other options take neither `true` nor `false`.
  private static func text(_ member: JSONValue.Member, isFlag: Bool, in path: String) throws -> String {
    if let text = member.value.optionText { return text }
    switch member.value {
    case .bool(let flag) where isFlag: return flag ? "1" : "0"
    case .array(let values):
      return try values.map { try text(.init(member.key, $0), isFlag: isFlag, in: path) }.joined(separator: ",")
    default:
      let what = isFlag ? "a boolean, a number or a string" : "a string, a number or an array of these"
      throw UsageError("\(path): \"\(member.key)\" must be \(what), not \(member.value.kind)")
    }
  }
}
