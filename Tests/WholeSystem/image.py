"""The image of Packaging/Containerfile: built by buildah on a Debian system of debootstrap, in the place of the one that a
registry would have, and used in a chroot of buildah's."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

from debian import ENVIRONMENT, Unavailable
from service import PICTURES, STATE, ROOT, Server, expect, wait_for

CONTAINERFILE = ROOT / "Packaging/Containerfile"


class Buildah:
    """Images and containers in a folder of their own."""

    def __init__(self, folder):
        self.words = ["buildah", "--root", str(folder / "storage"), "--runroot", str(folder / "run"), "--storage-driver", "vfs"]

    def start(self, *words, **options):
        return subprocess.Popen([*self.words, *map(str, words)], env=dict(ENVIRONMENT, BUILDAH_ISOLATION="chroot"),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def run(self, *words):
        with self.start(*words) as process:
            printed, said = process.communicate()
        expect(process.returncode == 0, f"buildah {words[0]} ended with {process.returncode}:\n{printed[-2000:]}{said[-2000:]}")
        return printed

    def import_image(self, name, system, folder):
        """Makes an image of a system."""
        archive = folder / "base.tar"
        subprocess.run(["tar", "--one-file-system", "--create", "--file", archive, "--directory", system.folder, "."], check=True)
        container = self.run("from", "scratch").strip()
        self.run("add", "--quiet", container, archive, "/")
        archive.unlink()
        self.run("commit", "--quiet", "--rm", container, name)


def test_image(system, folder, package):
    """Builds the image with a package, and lets it process a manifest with the volumes and the configuration of the documentation."""
    if not shutil.which("buildah", path=ENVIRONMENT["PATH"]):
        raise Unavailable("there is no buildah: script/bootstrap system installs it")
    folder = folder / "image"
    context = folder / "context"
    context.mkdir(parents=True)
    shutil.copy(package, context)
    buildah = Buildah(folder)
    base = re.search(r"^FROM (\S+)$", CONTAINERFILE.read_text(), re.MULTILINE)[1]
    buildah.import_image(f"docker.io/library/{base}", system, folder)
    buildah.run("build", "--pull=never", "--format", "docker", "--tag", "darkroom", "--file", CONTAINERFILE, context)
    made = json.loads(buildah.run("inspect", "--type", "image", "darkroom"))["Docker"]["config"]
    expect(made["User"] == "darkroom" and set(made["Volumes"]) == {f"{STATE}/inbox", f"{STATE}/outbox"}, f"the image has {made}")
    container = buildah.run("from", "--pull=never", "darkroom").strip()
    use(buildah, container, made, system, folder)
    buildah.run("rm", container)


def use(buildah, container, made, system, folder):
    """Runs what the image runs, and asks for what it says of its health. The folders have other paths than the image's volumes,
    because buildah 1.28 mounts empty ones over what it is told to mount there."""
    (folder / "config.json").write_text(
        json.dumps({"inbox": "/srv/inbox", "outbox": "/srv/outbox", "allow-net": ["127.0.0.0/8"]}))
    volumes = ["--volume", f"{folder}/config.json:/etc/darkroom/config.json"]
    owner = int(buildah.run("run", container, "--", "id", "--user", "darkroom"))
    for name in ("inbox", "outbox"):
        (folder / name).mkdir()
        os.chown(folder / name, owner, owner)
        volumes += ["--volume", f"{folder}/{name}:/srv/{name}"]

    def run(*words):
        return buildah.run("run", *volumes, container, "--", *words)

    run("darkroom", "doctor")
    with Server(system, folder) as server:
        watch = buildah.start("run", *volumes, container, "--", *made["Cmd"], start_new_session=True)
        try:
            urls = [f"http://127.0.0.1:{server.port}/coffee.jpg?image={index}\n" for index in range(PICTURES)]
            (folder / "inbox/.job.txt").write_text("".join(urls))
            (folder / "inbox/.job.txt").rename(folder / "inbox/job.txt")
            report = folder / "outbox/job/report.json"
            wait_for(report.exists, lambda: f"the report of a job in the image: {run('darkroom', 'status')}")
            expect(json.loads(report.read_text())["counts"]["filtered"] == PICTURES, "the job in the image has failed")
            kind, check = made["Healthcheck"]["Test"]
            expect(kind == "CMD-SHELL", f"the image's health is checked by {kind}")
            run("sh", "-c", check)
        finally:
            os.killpg(watch.pid, getattr(signal, made["StopSignal"]))
            try:
                said = watch.communicate(timeout=60)[1]
            except subprocess.TimeoutExpired:
                os.killpg(watch.pid, signal.SIGKILL)
                said = watch.communicate()[1]
    expect("job: succeeded" in said, f"the image has logged: {said[-2000:]}")
