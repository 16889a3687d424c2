import Foundation
import TestSupport

/// Networks of their own for single runs (`unshare`): forbidden addresses are this machine's there, a name server answers
/// as it is told to, and a web server listens everywhere and notes who reached it.
enum PrivateNetwork {
  /// What happened in a run.
  struct Run: Decodable {
    /// The code of each entry's error, by URL; `not-an-image` when the server was reached.
    let codes: [String: String]

    /// The addresses at which the web server was reached.
    let reached: [String]
  }

  /// Whether the system lets a user make one.
  static let isAvailable: Bool = {
    guard let folder = try? TemporaryFolder() else { return false }
    return (try? DarkroomProcess.run(script: "unshare -rmn mount -t tmpfs none .", in: folder))?.status == 0
  }()

  /// Runs a manifest of URLs, on port 8000 of the web server.
  static func run(_ urls: [String], allowing networks: [String]) throws -> Run {
    let folder = try TemporaryFolder()
    try script.write(toFile: folder.file("network.py"), atomically: false, encoding: .utf8)
    let run = try DarkroomProcess.run(
      script: "unshare -rmn /usr/bin/python3 network.py \"$NETWORKS\" \"$URLS\"", in: folder,
      environment: ["NETWORKS": networks.joined(separator: ","), "URLS": urls.joined(separator: " ")])
    guard run.status == 0 else { throw Failure(error: run.error) }
    return try JSONDecoder().decode(Run.self, from: Data(run.output.utf8))
  }

  /// The network could not be made, or the program ended otherwise than expected.
  struct Failure: Error {
    let error: String
  }

  private static let script = #"""
    import fcntl, json, os, socket, struct, subprocess, sys, threading

    # Addresses of the loopback device: SIOCSIFFLAGS, SIOCSIFADDR.
    four, six = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    fcntl.ioctl(four, 0x8914, struct.pack("16sH22x", b"lo", 0x49))
    for number, address in enumerate(["10.0.0.1", "169.254.169.254", "100.64.0.1", "198.18.0.1"]):
        place = struct.pack("16sHH4s16x", b"lo:%d" % number, socket.AF_INET, 0, socket.inet_aton(address))
        fcntl.ioctl(four, 0x8916, place)
    for address in ["::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"]:
        fcntl.ioctl(six, 0x8916, struct.pack("16sIi", socket.inet_pton(socket.AF_INET6, address), 128, 1))

    # A name server: "inward.test" is 127.0.0.1; "rebound.test" is 127.0.0.2 at first and 127.0.0.1 ever after.
    with open("resolv.conf", "w") as file:
        file.write("nameserver 127.0.0.1\n")
    subprocess.run(["mount", "--bind", "resolv.conf", "/etc/resolv.conf"], check=True)
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind(("127.0.0.1", 53))
    rebound = ["127.0.0.2"]

    def answer_names():
        while True:
            query, sender = names.recvfrom(512)
            end = query.index(b"\0", 12) + 5
            is_a = query[end - 4:end - 2] == b"\0\1"
            address = "127.0.0.1"
            if is_a and b"rebound" in query:
                address = rebound.pop() if rebound else address
            record = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + socket.inet_aton(address) if is_a else b""
            names.sendto(query[:2] + b"\x81\x80\0\1" + struct.pack(">H", is_a) + b"\0\0\0\0" + query[12:end] + record, sender)

    reached = []

    def serve(port):
        listener = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=64)
        def accept():
            while True:
                connection, _ = listener.accept()
                reached.append(connection.getsockname()[0])
                connection.settimeout(5)
                if b"/rebind" in connection.recv(4096):
                    head = "302 Found\r\nLocation: http://rebound.test:8001/"
                else:
                    head = "200 OK"
                connection.sendall(("HTTP/1.1 %s\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello" % head).encode())
                connection.close()
        threading.Thread(target=accept, daemon=True).start()

    threading.Thread(target=answer_names, daemon=True).start()
    serve(8000)
    serve(8001)
    with open("urls.txt", "w") as file:
        file.write("\n".join(sys.argv[2].split()) + "\n")
    allowed = ["--allow-net", sys.argv[1]] if sys.argv[1] else []
    options = ["--inbox", "in", "--outbox", "out", "--create", "--connect-timeout", "5"]
    run = subprocess.run(["darkroom", "run", "urls.txt"] + options + allowed, stdout=subprocess.DEVNULL)
    if run.returncode != 1:
        sys.exit("darkroom ended with %d" % run.returncode)
    with open("out/urls/report.json") as file:
        entries = json.load(file)["entries"]
    print(json.dumps({"codes": {entry["url"]: entry["error"]["code"] for entry in entries}, "reached": reached}))
    """#
}
