"""A contender of `script/bench sepia`, `resize` and `web`: downloads the URLs of a list with requests, processes the pictures with
Pillow or pyvips, and writes JPEG at 85.

    web_requests.py LIST FOLDER [Pillow|pyvips [sepia|resize [THREADS]]]

sepia is sepia(0.8); resize fits pictures into 256 x 256 pixels, in the way that each library has for thumbnails. Defaults: Pillow,
sepia, 16.
"""
import concurrent.futures, io, pathlib, sys, threading

import requests

K = .2
MATRIX = [[.393 + .607 * K, .769 - .769 * K, .189 - .189 * K], [.349 - .349 * K, .686 + .314 * K, .168 - .168 * K],
          [.272 - .272 * K, .534 - .534 * K, .131 + .869 * K]]
SIDE = 256
urls, folder = pathlib.Path(sys.argv[1]).read_text().split(), pathlib.Path(sys.argv[2])
library, recipe, threads = (sys.argv[3:] + ["Pillow", "sepia", "16"][len(sys.argv) - 3:])[:3]
own = threading.local()


def make_with_pillow(content, path):
    picture = Image.open(io.BytesIO(content))
    if recipe == "sepia":
        picture = picture.convert("RGB").convert("RGB", [each for row in MATRIX for each in (*row, 0)])
    else:
        picture.draft("RGB", (SIDE, SIDE))
        picture = picture.convert("RGB")
        picture.thumbnail((SIDE, SIDE), Image.LANCZOS)
    picture.save(path, quality=85)


def make_with_pyvips(content, path):
    if recipe == "sepia":
        picture = pyvips.Image.new_from_buffer(content, "", access="sequential").recomb(MATRIX).rint().cast("uchar")
    else:
        picture = pyvips.Image.thumbnail_buffer(content, SIDE, height=SIDE)
    picture.write_to_file(path, Q=85)


if library == "Pillow":
    from PIL import Image
    make, failures = make_with_pillow, (OSError,)
else:
    import pyvips
    pyvips.cache_set_max(0)
    make, failures = make_with_pyvips, (OSError, pyvips.Error)


def process(url):
    if not hasattr(own, "session"):
        own.session = requests.Session()
    try:
        answer = own.session.get(url, timeout=10)
        answer.raise_for_status()
        make(answer.content, str(folder / url.rpartition("/")[2]))
    except (requests.RequestException, *failures):
        pass


with concurrent.futures.ThreadPoolExecutor(int(threads)) as pool:
    list(pool.map(process, urls))
