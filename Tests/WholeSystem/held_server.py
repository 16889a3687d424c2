"""slow_server.py FOLDER SECONDS RECORD: serves the files of a folder on a port of 127.0.0.1, which it prints, each answer after
so many seconds. Adds the path of each request, with its query, to the record."""
import functools
import http.server
import sys
import time


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        time.sleep(float(sys.argv[2]))
        with open(sys.argv[3], "a", encoding="utf-8") as record:
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
