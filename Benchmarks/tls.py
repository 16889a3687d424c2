"""What TLS connections cost: `script/bench tls`. 1 000 pictures, recipe `none`, from an nginx on loopback.

    tls.py [--rounds N] [--pictures N] PROGRAM [OTHER_PROGRAM]

Four servers: one keeps connections; one speaks HTTP/2, so that requests share them; one ends each after its answer
(`keepalive_timeout 0`), and nothing of a session is kept; one ends each, and sessions can be resumed. Else HTTP/1.1; TLS 1.3,
a certificate for P-256 that the test makes, trusted through a file of the system's bundle and that certificate. Everything is on one machine: nginx takes CPU, too; it is not counted.

Beside it are what users take: `curl --parallel` with 16 places and a configuration of 1 000 URLs, and requests with 16
threads, with sessions and without (then it keeps no connection, whatever the server does). Medians of the rounds. CPU of a
new connection is what a run takes beyond the same over kept connections, divided by the pictures; nginx logs which sessions were resumed.
"""
import argparse, collections, os, pathlib, shutil, socket, statistics, subprocess, sys, tempfile, time

import photographs, processes, servers

BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
MODES = {"kept": "keepalive_timeout 60; keepalive_requests 100000;",
         "shared": "keepalive_timeout 60; keepalive_requests 100000; http2_max_concurrent_streams 128;",
         "new": "keepalive_timeout 0; ssl_session_cache off; ssl_session_tickets off;",
         "resumed": "keepalive_timeout 0; ssl_session_cache shared:tls:10m; ssl_session_tickets on;"}


def make_certificate(folder):
    """Makes a key and a certificate for 127.0.0.1; returns the file of all certificates to trust."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
                    "2", "-subj", "/CN=darkroom benchmark", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                    folder / "key.pem", "-out", folder / "certificate.pem"], check=True, stderr=subprocess.DEVNULL)
    trusted = folder / "trusted.pem"
    trusted.write_bytes(pathlib.Path(BUNDLE).read_bytes() + (folder / "certificate.pem").read_bytes())
    return trusted


class Nginx:
    """Serves `pictures` of the folder at a port for each mode."""

    def __init__(self, folder):
        self.ports = {mode: servers.free_port() for mode in MODES}
        blocks = "".join(f"""
            server {{
                listen 127.0.0.1:{port} ssl {"http2" if mode == "shared" else ""} backlog=4096;
                {MODES[mode]}
            }}""" for mode, port in self.ports.items())
        self.configuration = folder / "nginx.conf"
        temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in
                            ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        self.configuration.write_text(f"""
            daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
            events {{ worker_connections 4096; }}
            http {{
                {temporary}
                log_format reused $ssl_session_reused; access_log {folder}/reused.log reused;
                root {folder}/pictures; types {{ image/jpeg jpg; }} ssl_protocols TLSv1.3;
                ssl_certificate {folder}/certificate.pem; ssl_certificate_key {folder}/key.pem; {blocks}
            }}""")

    def __enter__(self):
        program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        self.process = subprocess.Popen([program, "-c", self.configuration], stderr=subprocess.DEVNULL)
        for port in self.ports.values():
            for _ in range(100):
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except ConnectionRefusedError:
                    time.sleep(.05)
            else:
                sys.exit("nginx does not start")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def curl_parallel(folder, source):
    settings = folder / "curl.conf"
    settings.write_text("".join(f'url = "{url}"\noutput = "{url.rpartition("/")[2]}"\n' for url in source.read_text().split()))
    return ["curl", "--silent", "--show-error", "--fail", "--parallel", "--parallel-max", "16", "--config", settings]


def requests(how):
    return lambda folder, source: [sys.executable, pathlib.Path(__file__).with_name("tls_requests.py"), source, folder, how]


def contenders(programs):
    """By label: a function of a folder and the list, which returns a command, and the modes in which it is measured."""
    def darkroom(program):
        return lambda folder, source: processes.darkroom(program, folder, source, "--filters", "none")

    return {label: (darkroom(program), MODES) for label, program in zip(["darkroom", "darkroom, the other"], programs)} | {
        "curl --parallel": (curl_parallel, MODES),
        "requests, sessions": (requests("session"), [mode for mode in MODES if mode != "shared"]),
        "requests.get": (requests("get"), ["new"])}


def measure(work, contender, pictures, port, trusted):
    folder = work / "run"
    folder.mkdir()
    source = folder / "list.txt"
    source.write_text("".join(f"https://127.0.0.1:{port}/{number:04}.jpg\n" for number in range(pictures)))
    ended = processes.run(contender(folder, source), folder, SSL_CERT_FILE=str(trusted), CURL_CA_BUNDLE=str(trusted),
                          REQUESTS_CA_BUNDLE=str(trusted))
    made, log = len(processes.picture_times(folder)), work / "reused.log"
    if ended.status or made != pictures:
        sys.exit(f"{contender}: {made} of {pictures} pictures, ended with {ended.status}: {ended.errors[-2000:]}")
    shutil.rmtree(folder)
    resumed = log.read_text().split().count("r")
    os.truncate(log, 0)
    return ended.wall, ended.cpu, resumed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--pictures", type=int, default=1000)
    parser.add_argument("programs", nargs="+")
    options = parser.parse_intermixed_args()
    found = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        trusted = make_certificate(work)
        (work / "pictures").mkdir()
        made = photographs.photographs()
        for number in range(options.pictures):
            (work / "pictures" / f"{number:04}.jpg").write_bytes(photographs.numbered(made[number % len(made)], number))
        with Nginx(work) as nginx:
            for _ in range(options.rounds):
                for label, (contender, modes) in contenders(options.programs).items():
                    for mode in modes:
                        found[label, mode].append(measure(work, contender, options.pictures, nginx.ports[mode], trusted))
                        print(label, mode, f"{found[label, mode][-1][0]:.2f} s", file=sys.stderr)
    report(list(contenders(options.programs)), options.pictures, found)


def report(labels, pictures, found):
    wall, cpu, resumed = ({key: statistics.median(taken[column] for taken in rows) for key, rows in found.items()}
                          for column in range(3))

    def cell(value, key, *others):
        return f"{value():.3g}" if all(each in found for each in (key, *others)) else ""

    print(f"{pictures} pictures over TLS. New: a connection for each, nothing is resumed.\n")
    print("| contender | wall, s: kept | HTTP/2 | new | resumed | CPU, s: kept | HTTP/2 | new | resumed "
          "| CPU of a connection, ms: new | resumed | wall, darkroom = 1: HTTP/2 | new | resumed "
          "| requests over a resumed session |\n|" + " --- |" * 15)
    for label in labels:
        cells = [cell(lambda: column[label, mode], (label, mode)) for column in (wall, cpu) for mode in MODES]
        cells += [cell(lambda: 1000 * (cpu[label, mode] - cpu[label, "kept"]) / pictures, (label, mode), (label, "kept"))
                  for mode in ("new", "resumed")]
        cells += [cell(lambda: wall[label, mode] / wall["darkroom", mode], (label, mode))
                  for mode in ("shared", "new", "resumed")]
        cells += [cell(lambda: resumed[label, "resumed"], (label, "resumed"))]
        print(f"| {label} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
