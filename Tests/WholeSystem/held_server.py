"""held_server.py FOLDER RECORD HOLD: serves the files of a folder on a port of 127.0.0.1, which it prints. Adds the path of each
request that it answers, with its query, to the record. While the file HOLD exists it answers no query that ends with "=N" with
an N of at least the number in that file."""
import functools
import http.server
import pathlib
import sys
import time


def is_held(path):
    try:
        first = int(pathlib.Path(sys.argv[3]).read_text())
    except FileNotFoundError:
        return False
    return int(path.rpartition("=")[2]) >= first


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        while is_held(self.path):
            time.sleep(0.05)
        with open(sys.argv[2], "a", encoding="utf-8") as record:
            record.write(self.path + "\n")
        super().do_GET()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        """Clients that are killed go away in the middle of an answer."""


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), functools.partial(Handler, directory=sys.argv[1]))
    print(server.server_address[1], flush=True)
    server.serve_forever()
