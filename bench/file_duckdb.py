import os
import sys
import duckdb

source, target, threads = sys.argv[1:]
duckdb.execute(f"SET threads = {int(threads)}")
quoted = [name.replace("'", "''") for name in (source, target)]
duckdb.execute(f"""
    COPY (
        SELECT * FROM read_json('{quoted[0]}', format = 'newline_delimited', columns = {{
            id: 'BIGINT', date: 'VARCHAR', delay: 'BIGINT', distance: 'BIGINT', origin: 'VARCHAR', destination: 'VARCHAR'}})
        WHERE delay > 15
    ) TO '{quoted[1]}' (FORMAT csv, HEADER)
""")
if os.path.exists("/proc/self/status"):
    print(open("/proc/self/status").read())
