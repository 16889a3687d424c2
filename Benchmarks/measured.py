"""Runs a command in a session of its own, and tells on a descriptor how it went.

    measured.py DESCRIPTOR SECONDS COMMAND...

A process's peak of memory (`ru_maxrss`) is kept across `exec`: it begins with what the process that started it had in memory.
So a contender is started by this process, which has 10 MB, and not by the benchmark, which may have hundreds. After SECONDS,
and after SIGTERM, the command and its children are killed.
"""
import os, signal, sys, time


def main():
    told, limit, command = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    began = time.time()
    child = os.posix_spawnp(command[0], command, os.environ, setsid=True, file_actions=[(os.POSIX_SPAWN_CLOSE, told)])

    def kill(*_):
        os.killpg(child, signal.SIGKILL)

    signal.signal(signal.SIGALRM, kill)
    signal.signal(signal.SIGTERM, kill)
    signal.setitimer(signal.ITIMER_REAL, limit)
    _, status, usage = os.wait4(child, 0)
    numbers = began, time.time() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, os.waitstatus_to_exitcode(status)
    os.write(told, " ".join(map(str, numbers)).encode())


main()
