"""What the checks of the examples share: programs of a build are run, and what they print is looked at."""
import os
import subprocess
import sys

build = os.path.abspath(sys.argv[1])
root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
INFO = "libexec/gradcoll/gradcoll-info"
PLAN = "libexec/gradcoll/gradcoll-plan"
BENCH = "libexec/gradcoll/gc_bench-allreduce"
SHORT = ("-c", "-m", "64K,1M", "-i", "2", "-x", "1", "--repeats", "1")  # of BENCH: right sums, soon


def run(ranks, program, *arguments, **settings):
    """(exit status, stdout and stderr together) of a program of the build; 0 ranks: without a launcher."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GC_")}
    launcher = [os.path.join(root, "scripts", "mpirun"), "-n", str(ranks), "timeout", "60"] if ranks else []
    done = subprocess.run([*launcher, os.path.join(build, program), *arguments], text=True, timeout=120, check=False,
                          env={**environment, "GRADCOLL_BUILD": build, **settings}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def expect(words, answer, fails=False):
    """Ends the check unless the program ended so and printed all words."""
    status, text = answer
    missing = [word for word in words if word not in text]
    if (status != 0) != fails or missing:
        sys.exit(f"expected {'an error' if fails else 'success'}, got status {status}; missing {missing} in\n{text}")
