import Foundation

/// A real web server for one test: nginx on a loopback port of its own, serving a folder.
package final class Nginx: Sendable {
  /// The folder that is served. Files may be added while it runs.
  package let folder: String

  /// The port on 127.0.0.1.
  package var port: Int { ports[0].number }

  private let ports: [ReservedPort]

  private let process: ChildProcess
  private let workspace: TemporaryFolder

  /// Starts the server and waits until it accepts connections.
  /// - Parameters:
  ///   - folder: What is served; has to outlive the server.
  ///   - directives: More lines for the `server` block, such as `location /slow { limit_rate 1k; }`. None by default.
  ///   - other: A port that `directives` listen on, too. None by default.
  ///   - shared: More lines for the `http` block, such as `limit_req_zone`. None by default.
  package init(
    serving folder: String, directives: String = "", on other: ReservedPort? = nil, shared: String = ""
  ) throws {
    let workspace = try TemporaryFolder()
    let (reserved, configuration) = (try ReservedPort(), workspace.file("nginx.conf"))
    let port = reserved.number
    let text = """
      daemon off;
      master_process off;
      worker_processes 1;
      pid \(workspace.path)/pid;
      error_log \(workspace.path)/error.log;
      \(geteuid() == 0 ? "user root;" : "")
      events { worker_connections 512; }
      http {
        access_log \(workspace.path)/access.log;
        client_body_temp_path \(workspace.path)/body;
        proxy_temp_path \(workspace.path)/proxy;
        fastcgi_temp_path \(workspace.path)/fastcgi;
        uwsgi_temp_path \(workspace.path)/uwsgi;
        scgi_temp_path \(workspace.path)/scgi;
        types { image/jpeg jpg jpeg; image/png png; image/webp webp; }
        default_type application/octet-stream;
        sendfile on;
        \(shared)
        server {
          listen 127.0.0.1:\(port);
          root \(folder);
          \(directives)
        }
      }

      """
    try text.write(toFile: configuration, atomically: false, encoding: .utf8)
    let executable = try ChildProcess.executable(["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"])
    process = try ChildProcess(
      executable, ["-e", workspace.file("error.log"), "-p", workspace.path, "-c", configuration])
    self.folder = folder
    ports = [reserved] + [other].compactMap { $0 }
    self.workspace = workspace
    let deadline = ContinuousClock.now + .seconds(20)
    // It listens on one port after another.
    while !ports.allSatisfy({ LoopbackSocket.answers(port: $0.number) }) {
      guard !process.ends(within: 5), ContinuousClock.now < deadline else {
        throw StartFailure(log: (try? String(contentsOfFile: workspace.file("error.log"), encoding: .utf8)) ?? "")
      }
    }
  }

  /// The URL of a file in the folder. The name is taken as it is, so it has to be encoded if need be.
  package func url(_ name: String) -> String { "http://127.0.0.1:\(port)/\(name)" }

  /// The requests answered so far, a line each in nginx's `combined` format. A line is written after its response.
  package func accessLog() throws -> [String] {
    try String(contentsOfFile: workspace.file("access.log"), encoding: .utf8).split(separator: "\n").map(String.init)
  }

  /// nginx did not come up.
  package struct StartFailure: Error {
    let log: String
  }
}
