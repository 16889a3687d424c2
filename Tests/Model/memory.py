"""Where tests put folders whose disk does not matter."""
import os
import shutil

SHARED = "/dev/shm"
ENOUGH = 256 << 20


def memory_folder():
    """A folder in memory, if there is one: kills and damage do not need a disk, and a disk that hangs makes every limit of time
    too short. None: the default of `tempfile`."""
    return SHARED if os.access(SHARED, os.W_OK) and shutil.disk_usage(SHARED).free > ENOUGH else None
