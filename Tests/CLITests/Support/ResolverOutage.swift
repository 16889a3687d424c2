import Foundation
import TestSupport

/// A run in a network of its own (`unshare`), in which the name server is gone after so many pictures, until the program
/// holds new hosts. Each picture is another host's.
enum ResolverOutage {
  /// What the run came to.
  struct Run: Decodable {
    let status: Int32

    /// How often the name server was stopped and started again.
    let outages: Int
    let report: Report
  }

  static func run(pictures: Int, answering answers: Int) throws -> Run {
    let folder = try TemporaryFolder()
    try script.write(toFile: folder.file("network.py"), atomically: false, encoding: .utf8)
    let run = try DarkroomProcess.run(
      script: "unshare -rmn /usr/bin/python3 network.py \(pictures) \(answers) \"$SAMPLE\"", in: folder,
      environment: ["SAMPLE": packageRoot + "/Samples/coffee.jpg"])
    guard run.status == 0 else { throw PrivateNetwork.Failure(error: run.error) }
    return try JSONDecoder().decode(Run.self, from: Data(run.output.utf8))
  }

  private static let script = #"""
    import fcntl, json, socket, struct, subprocess, sys, threading

    pictures, answers, body = int(sys.argv[1]), int(sys.argv[2]), open(sys.argv[3], "rb").read()
    four = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    fcntl.ioctl(four, 0x8914, struct.pack("16sH22x", b"lo", 0x49))  # SIOCSIFFLAGS
    with open("resolv.conf", "w") as file:
        file.write("nameserver 127.0.0.1\n")
    subprocess.run(["mount", "--bind", "resolv.conf", "/etc/resolv.conf"], check=True)

    # Every name is 127.0.0.1. Without the socket a question is refused.
    class NameServer:
        def __init__(self):
            self.socket, self.stopped = None, threading.Event()

        def start(self):
            if self.socket:
                return
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.socket.bind(("127.0.0.1", 53))
            threading.Thread(target=self.answer, args=(self.socket,), daemon=True).start()

        def stop(self):
            self.socket = None
            four.sendto(b"", ("127.0.0.1", 53))  # whoever waits for a question returns
            self.stopped.wait()
            self.stopped.clear()

        def answer(self, mine):
            while True:
                query, sender = mine.recvfrom(512)
                if self.socket is not mine:
                    mine.close()
                    self.stopped.set()
                    return
                if not query:
                    continue
                end = query.index(b"\0", 12) + 5
                is_a = query[end - 4:end - 2] == b"\0\1"
                record = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4\x7f\0\0\1" if is_a else b""
                head = query[:2] + b"\x81\x80\0\1" + struct.pack(">H", is_a) + b"\0\0\0\0"
                mine.sendto(head + query[12:end] + record, sender)

    names = NameServer()
    names.start()
    lock, served, outages = threading.Lock(), 0, 0
    listener = socket.create_server(("127.0.0.1", 8000), backlog=128)

    def serve():
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=respond, args=(connection,), daemon=True).start()

    def respond(connection):
        global served, outages
        with connection:
            connection.recv(4096)
            with lock:
                served += 1
                if served == answers:
                    names.stop()
                    outages += 1
            connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    threading.Thread(target=serve, daemon=True).start()
    with open("urls.txt", "w") as file:
        file.write("".join("http://h%d.test:8000/%d\n" % (number, number) for number in range(pictures)))
    run = subprocess.Popen(
        ["darkroom", "run", "urls.txt", "--inbox", "in", "--outbox", "out", "--create", "--allow-net", "127.0.0.0/8",
         "--retries", "2", "--filters", "none", "--poll-interval", "0.05"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in run.stderr:
        sys.stderr.write(line)
        if "cannot ask new hosts" in line:
            names.start()
    with open("out/urls/report.json") as file:
        print(json.dumps({"status": run.wait(), "outages": outages, "report": json.load(file)}))
    """#
}
