"""`python -m spark_zorder`, the same as the command `spark-zorder`."""

import sys

from spark_zorder._cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
