"""Pictures from an nginx on loopback: `script/bench sepia`, `resize`, `download`, `small` and `hosts`.

    transfers.py WORKLOAD CODECS PROGRAM [--pictures N] [--rounds N]

sepia(0.8), resize(fit 256 256) and none; results are JPEG at 85. The photographs are crops of those in Samples/ of 640 to 1280
pixels, a fifth of them progressive. Whole processes in turn: requests with Pillow or pyvips and 4 threads; img2dataset, which
has no filter, so that it only encodes again for sepia; for downloads curl and aria2c. The codecs alone read and write the files
on one core: for resize at the part of the size at which darkroom decodes, and they take every pixel that falls on the result's
grid. Nothing is synced by the others. For downloads from one host darkroom is measured with its defaults, 6 at once, and with
32, as curl and aria2c make them. `small` downloads pictures of 1 KB from one host, `hosts` each of them from a host of its own,
an address of 127.0.0.0/8: no connection is used twice.
"""
import argparse, contextlib, os, pathlib, random, shutil, subprocess, sys, tempfile, time

from PIL import Image

import contest, photographs, png_pictures, processes, servers

RECIPES = {"sepia": "sepia(0.8)", "resize": "resize(fit 256 256)", "download": "none", "small": "none", "hosts": "none"}
SMALL = {"small", "hosts"}
TOOLS = pathlib.Path(sys.executable).parent
SIDE = 256


def make_photographs(folder, count):
    choice = random.Random(1)
    for number in range(count):
        image = png_pictures.photograph(png_pictures.PHOTOGRAPHS[number % len(png_pictures.PHOTOGRAPHS)])
        share, side = choice.uniform(.6, 1), choice.choice([640, 800, 1024, 1280])
        width, height = int(image.width * share), int(image.height * share)
        left, top = choice.randint(0, image.width - width), choice.randint(0, image.height - height)
        scale = side / max(width, height)
        image = image.crop((left, top, left + width, top + height))
        image.resize((int(width * scale), int(height * scale)), Image.LANCZOS).save(
            folder / f"{number:05}.jpg", quality=choice.choice([80, 85, 90]), subsampling=choice.choice([2, 2, 2, 0]),
            progressive=number % 5 == 0)


def make_small(folder, count):
    picture = photographs.thumbnail()
    for number in range(count):
        (folder / f"{number:05}.jpg").write_bytes(photographs.numbered(picture, number))


def host(number):
    """Another address of loopback for each number below 65 000."""
    return f"127.1.{number // 250}.{number % 250 + 1}"


@contextlib.contextmanager
def nginx(folder, pictures, address):
    """A server of the pictures, for this machine only; its port."""
    port = servers.free_port()
    temporary = " ".join(f"{name}_temp_path {folder}/nginx.{name};"
                         for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(f"""
        worker_processes 1; daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
        events {{ worker_connections 4096; }}
        http {{
          access_log off; sendfile on; keepalive_requests 1000000; types {{ image/jpeg jpg; }} {temporary}
          server {{ listen {address}:{port} backlog=4096; root {pictures}; allow 127.0.0.0/8; deny all; }}
        }}""")
    # A server that root starts has workers of another user.
    folder.chmod(0o755)
    program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    server = subprocess.Popen([program, "-c", folder / "nginx.conf", "-e", folder / "nginx.log"])
    try:
        while not (folder / "nginx.pid").exists() and server.poll() is None:
            time.sleep(.01)
        yield port
    finally:
        server.terminate()
        server.wait()


def contenders(workload, codecs, program, pictures, source):
    def darkroom(*options):
        return lambda folder: contest.measured(
            processes.darkroom(program, folder, source, "--filters", RECIPES[workload], "--quality", "85", *options), folder)

    def requests(library):
        return lambda folder: contest.measured(
            [sys.executable, pathlib.Path(__file__).with_name("web_requests.py"), source, folder, library, workload, "4"], folder)

    def img2dataset(folder):
        size = ["no"] if workload == "sepia" else ["keep_ratio_largest", f"--image_size={SIDE}"]
        return contest.measured(
            [TOOLS / "img2dataset", f"--url_list={source}", "--input_format=txt", f"--output_folder={folder}/out",
             "--output_format=files", "--resize_mode", *size, "--encode_quality=85", "--processes_count=2", "--thread_count=32",
             f"--number_sample_per_shard={len(list(pictures.iterdir())) // 2}"], folder, NO_ALBUMENTATIONS_UPDATE="1")

    def alone(folder):
        scale = [] if workload == "sepia" else [str(SIDE)]
        taken = contest.measured([codecs / "jpg", "85", *scale, *sorted(pictures.iterdir())], folder)
        for path in pictures.glob("*.out"):
            shutil.move(path, folder / path.stem)
        return taken

    def curl(folder):
        config = folder / "curl.config"
        config.write_text("".join(f'url = "{url}"\noutput = "{folder}/{url.rpartition("/")[2]}"\n'
                                  for url in source.read_text().split()))
        return contest.measured(["curl", "-s", "--parallel", "--parallel-max", "32", "-K", config], folder)

    def aria2(folder):
        return contest.measured(["aria2c", "-q", "-i", source, "-j", "32", "-d", folder], folder)

    if workload == "download" or workload in SMALL:
        # The others make 32 downloads at once from any host; by default darkroom makes 6.
        same = {"darkroom, 32 at once": darkroom("--per-host", "32", "--downloads", "32")} if workload != "hosts" else {}
        return {"darkroom": darkroom(), **same, "curl --parallel": curl, "aria2c": aria2}
    return {"darkroom": darkroom(), "libjpeg-turbo alone": alone, "requests and Pillow": requests("Pillow"),
            "requests and pyvips": requests("pyvips"), "img2dataset": img2dataset}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("workload", choices=RECIPES)
    parser.add_argument("codecs", type=pathlib.Path)
    parser.add_argument("program")
    parser.add_argument("--pictures", type=int, help="default: 1000, of small ones 10 000")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    is_small, has_hosts = options.workload in SMALL, options.workload == "hosts"
    count = options.pictures or (10_000 if is_small else 1000)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pictures, source = folder / "pictures", folder / "list.txt"
        pictures.mkdir()
        (make_small if is_small else make_photographs)(pictures, count)
        with nginx(folder, pictures, "0.0.0.0" if has_hosts else "127.0.0.1") as port:
            source.write_text("".join(f"http://{host(number) if has_hosts else '127.0.0.1'}:{port}/{path.name}\n"
                                      for number, path in enumerate(sorted(pictures.iterdir()))))
            contest.compare(
                options.workload, contenders(options.workload, options.codecs.resolve(), options.program, pictures, source),
                count, options.rounds, ["jpg"])


if __name__ == "__main__":
    main()
