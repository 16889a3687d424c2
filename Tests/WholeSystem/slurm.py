"""A cluster of Slurm on one machine: a controller and nodes, each with processes, a host name and a local disk of its own, so
that a node can die like a machine that loses its power. Needs root, and Debian's slurm-wlm and munge.
"""
import os
import pathlib
import secrets
import shutil
import socket
import subprocess

from debian import Unavailable
from service import wait_for

TOOLS = ("slurmctld", "slurmd", "sbatch", "munged")
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root"}

# Settings for a cluster in which nothing waits long. KillWait and JobRequeue are Slurm's own defaults.
CONFIGURATION = """\
ClusterName=darkroom
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=5
CredType=cred/munge
MpiDefault=none
StateSaveLocation={folder}/controller
SlurmctldPidFile={folder}/controller/pid
SlurmctldLogFile={folder}/controller.log
SlurmdSpoolDir={folder}/%n/spool
SlurmdPidFile={folder}/%n/pid
SlurmdLogFile={folder}/%n.log
TaskProlog={folder}/task-prolog
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0
SlurmdParameters=config_overrides
SlurmdTimeout=6
KillWait=30
JobRequeue=1
ReturnToService=2
"""


class Slurm:
    def __init__(self, folder, nodes=("n0", "n1"), processors=4):
        missing = [tool for tool in TOOLS if not shutil.which(tool, path=ENVIRONMENT["PATH"])]
        if missing:
            raise Unavailable(f"there is no {missing[0]}; script/bootstrap cluster installs it")
        if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "--pid", "--uts", "--fork", "true"], check=False).returncode:
            raise Unavailable("nodes with processes of their own need root, and namespaces")
        self.folder, self.names, self.processors = pathlib.Path(folder), nodes, processors
        self.environment = dict(ENVIRONMENT, SLURM_CONF=str(self.folder / "slurm.conf"))
        self.daemons, self.nodes = [], {}

    def __enter__(self):
        try:
            self.configure()
            self.start_daemons()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in [*self.nodes.values(), *reversed(self.daemons)]:
            end(process)

    def disk(self, node):
        """The local disk of a node."""
        return self.folder / node / "disk"

    def configure(self):
        ports = free_ports(1 + len(self.names))
        nodes = "".join(f"NodeName={name} NodeAddr=127.0.0.1 Port={port} CPUs={self.processors} RealMemory=4096\n"
                        for name, port in zip(self.names, ports[1:]))
        nodes += "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE\n"
        for name in ("controller", "munge", *self.names):
            (self.folder / name).mkdir(mode=0o755)
        for name in self.names:
            (self.folder / name / "spool").mkdir()
            self.disk(name).mkdir()
        text = CONFIGURATION.format(host=socket.gethostname().split(".")[0], port=ports[0], folder=self.folder)
        (self.folder / "slurm.conf").write_text(text + nodes)
        # What the administrators of many clusters do for their users.
        prolog = self.folder / "task-prolog"
        prolog.write_text(f"#!/bin/sh\necho export SLURM_TMPDIR={self.folder}/$SLURMD_NODENAME/disk\n")
        prolog.chmod(0o755)

    def start_daemons(self):
        munge = self.folder / "munge"
        key = munge / "key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={munge}/socket",
                   f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        wait_for((munge / "socket").exists, "munged", 20)
        self.start("slurmctld", "-D")
        for name in self.names:
            self.start_node(name)
        wait_for(lambda: self.states() == {name: "idle" for name in self.names}, lambda: f"idle nodes: {self.states()}", 60)

    def start(self, *words):
        with open(self.folder / f"{words[0]}.out", "ab") as output:
            self.daemons.append(subprocess.Popen(words, env=self.environment, stdin=subprocess.DEVNULL, stdout=output,
                                                 stderr=output))

    def start_node(self, name):
        """Starts a node: a namespace of processes ends with its first process, as all of them end with a machine."""
        begin = f"hostname {name} && exec slurmd -D -N {name}"
        with open(self.folder / f"{name}.out", "ab") as output:
            self.nodes[name] = subprocess.Popen(
                ["unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", begin],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def kill_node(self, name):
        """Ends all processes of a node at once, without a signal that they could see, and empties its disk."""
        end(self.nodes.pop(name))
        shutil.rmtree(self.folder / name)
        for part in ("spool", "disk"):
            (self.folder / name / part).mkdir(parents=True)

    def run(self, *words, check=True, folder=None, **variables):
        done = subprocess.run(list(map(str, words)), env=dict(self.environment, **variables), cwd=folder or self.folder, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if check and done.returncode:
            raise AssertionError(f"{words[0]} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout.strip()

    def states(self):
        lines = self.run("sinfo", "--noheader", "--Node", "--format=%N %t", check=False).splitlines()
        return dict(line.split() for line in lines)

    def jobs(self):
        """What the controller knows of jobs and tasks, also of those that have ended."""
        text = self.run("scontrol", "--oneliner", "--all", "show", "job", check=False)
        return [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in text.splitlines() if "JobId=" in line]

    def tasks(self, array):
        """The tasks of an array, by their numbers."""
        return {int(job["ArrayTaskId"]): job for job in self.jobs()
                if job.get("ArrayJobId") == str(array) and job["ArrayTaskId"].isdigit()}

    def job(self, number):
        return next((job for job in self.jobs() if job["JobId"] == str(number)), None)

    def logs(self):
        """The last lines of the daemons."""
        return "\n".join(f"{file.name}: {line}" for file in sorted(self.folder.glob("*.log"))
                         for line in file.read_text(errors="replace").splitlines()[-15:])


def end(process):
    process.kill()
    process.wait()


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
