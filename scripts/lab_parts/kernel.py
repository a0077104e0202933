"""The Linux calls that Python's standard library does not have, and processes that cannot outlive each other."""
import ctypes
import errno
import os
import select
import signal
import sys

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
OWN_MACHINE = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15
_libc = ctypes.CDLL(None, use_errno=True)


def _checked(what, result):
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def unshare(namespaces):
    _checked("unshare", _libc.unshare(namespaces))


def mount(source, target, kind=None, flags=0, data=None):
    encoded = [text.encode() if text else None for text in (source, target, kind)]
    _checked(f"mount {target}", _libc.mount(*encoded, ctypes.c_ulong(flags), data.encode() if data else None))


def keep_mounts_private():
    try:
        mount(None, "/", flags=_MS_REC | _MS_PRIVATE)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise OSError(error.errno, "mounts of one's own are not permitted where the root folder is no mount point (a chroot)") from error


def bind(source, target):
    mount(source, target, flags=_MS_BIND)


def set_process_name(name):
    _checked("prctl", _libc.prctl(_PR_SET_NAME, name.encode()[:15], 0, 0, 0))


def fork_tied():
    """As os.fork(), but the child is killed when this process ends, however that comes."""
    alive, held = os.pipe()
    pid = os.fork()
    if pid != 0:
        os.close(alive)
        return pid  # `held` stays open for as long as this process lives
    os.close(held)
    _checked("prctl", _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
    if select.select([alive], [], [], 0)[0]:
        os._exit(1)  # it ended before we were tied
    os.close(alive)
    return 0


def enter(pid, kinds):
    """Joins the namespaces of process `pid` as this mount namespace's /proc numbers it; kinds: net, uts, ipc, pid, mnt."""
    folder = os.getcwd()
    root = os.open(f"/proc/{pid}/root", os.O_PATH | os.O_CLOEXEC)
    opened = [os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC) for kind in kinds]
    for kind, descriptor in zip(kinds, opened):
        _checked(f"setns {kind}", _libc.setns(descriptor, 0))
        os.close(descriptor)
    # Who enters a mount namespace is at its root; the process there may have another one (a chroot).
    os.fchdir(root)
    os.chroot(".")
    os.close(root)
    os.chdir(folder)


def exit_status(wait_status):
    """Of os.wait*, as a shell has it."""
    code = os.waitstatus_to_exitcode(wait_status)
    return 128 - code if code < 0 else code


def reap_while(process):
    """As reap_all(), until the process of that descriptor (os.pidfd_open) ends."""
    while not select.select([process], [], [], 0.5)[0]:
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            pass


def reap_all():
    """For the first process of a PID namespace that has nothing else to do. Never returns."""
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            signal.pause()


def run_as_first_process(command, leave_with_command, prepare=None):
    """Runs `command` in a PID namespace of its own, whose processes all end with this one. Returns the exit status.

    leave_with_command: what the command left running is killed once it has ended; otherwise it is waited for.
    prepare: is called in the new PID namespace before the command starts.
    """
    unshare(CLONE_NEWPID)
    first = fork_tied()
    if first == 0:
        _first_process(command, leave_with_command, prepare)
    return exit_status(os.waitpid(first, 0)[1])


def _first_process(command, leave_with_command, prepare):
    status = 127
    try:
        if prepare:
            prepare()
        main = os.fork()
        if main == 0:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
                signal.signal(number, signal.SIG_DFL)
            os.execvp(command[0], command)
        while True:
            try:
                pid, wait_status = os.wait()
            except ChildProcessError:
                break
            if pid == main:
                status = exit_status(wait_status)
                if leave_with_command:
                    break
    except OSError as error:
        print(f"lab: {command[0]}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)
