# wheel_libraries_test.py - what the library is linked with is what scripts/wheel means to put into the wheel, and what the page
# says. So a new library is seen here, and not only when a wheel is made.
import re
import subprocess
import sys
from pathlib import Path

library, sources = Path(sys.argv[1]), Path(sys.argv[2])
SYSTEMS = r"lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|atomic)\.so|ld-linux"  # each system has them
NAMES = {"isal": "ISA-L"}

said = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
needed = [name for name in re.findall(r"\(NEEDED\).*\[(.*)\]", said) if not re.match(SYSTEMS, name) and not name.startswith("libmpi")]
assert needed, said
mine = sorted(re.match(r"lib(.*?)\.so", name).group(1) for name in needed)
inside = subprocess.run([sources / "scripts" / "wheel", "--inside"], capture_output=True, text=True, check=True).stdout.split()
assert "udev" in inside  # of hwloc
if mine != [name for name in inside if name != "udev"]:
    sys.exit(f"the library needs {mine}, and the list `inside` of scripts/wheel has {inside}")
page = " ".join((sources / "docs" / "python.md").read_text(encoding="utf-8").split())
sentence = re.search(r".* - (.*?) under names of their own", page)
assert sentence, "docs/python.md does not say what is inside"
for name in inside:
    if NAMES.get(name, name) not in sentence.group(1):
        sys.exit(f"{name} is in the wheel, and docs/python.md does not say so: {sentence.group(1)}")
