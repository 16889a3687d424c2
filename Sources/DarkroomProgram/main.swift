import DarkroomCLI
import Foundation

ProgramProcess.run(Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment)
