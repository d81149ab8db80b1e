import os
import sys
import polars as pl

source, target, _ = sys.argv[1:]
schema = {"id": pl.Int64, "date": pl.String, "delay": pl.Int64, "distance": pl.Int64, "origin": pl.String, "destination": pl.String}
pl.scan_ndjson(source, schema=schema).filter(pl.col("delay") > 15).sink_csv(target)
if os.path.exists("/proc/self/status"):
    print(open("/proc/self/status").read())
