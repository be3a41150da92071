"""The command line: `spark-zorder`, or `python -m spark_zorder`."""
