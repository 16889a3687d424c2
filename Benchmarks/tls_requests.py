"""A contender of `script/bench tls`: downloads the URLs of a list with requests and 16 threads.

    tls_requests.py LIST FOLDER session|get

`session` has a session for each thread, which keeps connections where the server does; `get` is requests.get.
"""
import concurrent.futures, pathlib, sys, threading

import requests

folder = pathlib.Path(sys.argv[2])
own = threading.local()


def download(url):
    if sys.argv[3] == "session" and not hasattr(own, "session"):
        own.session = requests.Session()
    answer = getattr(own, "session", requests).get(url, timeout=10)
    answer.raise_for_status()
    (folder / url.rpartition("/")[2]).write_bytes(answer.content)


with concurrent.futures.ThreadPoolExecutor(16) as pool:
    list(pool.map(download, pathlib.Path(sys.argv[1]).read_text().split()))
