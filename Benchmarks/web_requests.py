"""A contender of `script/bench web`: downloads the URLs of a list with requests and 16 threads, makes them sepia with Pillow.

    web_requests.py LIST FOLDER
"""
import concurrent.futures, io, pathlib, sys, threading

import requests
from PIL import Image

K = .2
MATRIX = [.393 + .607 * K, .769 - .769 * K, .189 - .189 * K, 0, .349 - .349 * K, .686 + .314 * K, .168 - .168 * K, 0,
          .272 - .272 * K, .534 - .534 * K, .131 + .869 * K, 0]
folder = pathlib.Path(sys.argv[2])
own = threading.local()


def process(url):
    if not hasattr(own, "session"):
        own.session = requests.Session()
    try:
        answer = own.session.get(url, timeout=10)
        answer.raise_for_status()
        picture = Image.open(io.BytesIO(answer.content)).convert("RGB").convert("RGB", MATRIX)
        picture.save(folder / url.rpartition("/")[2], quality=85)
    except (requests.RequestException, OSError):
        pass


with concurrent.futures.ThreadPoolExecutor(16) as pool:
    list(pool.map(process, pathlib.Path(sys.argv[1]).read_text().split()))
