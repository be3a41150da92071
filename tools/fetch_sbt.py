"""Fetch sbt's launcher with the Apache Ivy that pyspark contains: fetch_sbt.py <java> <target jar>."""

import hashlib
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

VERSION = "1.11.7"
SHA256 = "f92a2095ac75008764fe3b2b793ffe624c4fbef5bfd9b0022e4bc2daf668c651"


def main(java: str, target: Path) -> None:
    """Fetch the launcher into `target`, or exit with an error message."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        sys.exit("pyspark is not installed beside this Python")
    folder = target.parent.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    # Ivy gets a cache of its own, because it would reuse a damaged jar in the user's cache.
    command = [java, "-cp", f"{Path(spec.origin).parent}/jars/*", "org.apache.ivy.Main"]
    command += ["-cache", str(folder / "ivy"), "-confs", "default", "-m2compatible"]
    command += ["-dependency", "org.scala-sbt", "sbt-launch", VERSION]
    command += ["-retrieve", f"{folder}/[artifact]-[revision].download"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    download = folder / f"sbt-launch-{VERSION}.download"
    if done.returncode != 0 or not download.exists():
        sys.exit(f"{done.stdout}\nsbt {VERSION} could not be fetched")
    found = hashlib.sha256(download.read_bytes()).hexdigest()
    if found != SHA256:
        download.unlink()
        sys.exit(f"sbt {VERSION} has SHA-256 {found}, not {SHA256}: it is not used")
    download.replace(target)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
