"""Compares tables in Parquet with what `gapii-ctl` prints of the same traces.

Arguments: the engine (`duckdb` or `spark`), the control tool, a folder with traces, a folder with their tables, and the
folder contrib/fleet. Prints the totals that were compared; fails at the first that differs.
"""

import collections
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ENGINE, TOOL, TRACES, TABLES, FLEET = sys.argv[1:]
TOOL, TABLES, FLEET = [str(pathlib.Path(path).resolve()) for path in (TOOL, TABLES, FLEET)]
FLEET = pathlib.Path(FLEET)

# Totals of `stats --json`, by the column of `traces` that has them.
TOTALS = [
    "commands", "setup_commands", "draws", "dispatches", "state_changes", "redundant_changes", "uploaded_bytes",
    "client_bytes", "read_back_bytes",
]
OF_FRAMES = ["commands", "draws", "uploaded_bytes", "driver_ns", "gpu_ns"]
OF_FUNCTIONS = ["commands", "read_bytes", "written_bytes", "redundant"]


def duckdb_rows():
    import duckdb

    base = duckdb.connect()
    base.execute("SET VARIABLE tables = '" + TABLES.replace("'", "''") + "'")
    base.execute((FLEET / "views.sql").read_text())
    base.execute(f"CREATE VIEW commands AS FROM read_parquet('{TABLES}/table=commands/**/*.parquet', hive_partitioning = true)")
    return lambda query: base.execute(query).fetchall()


def spark_rows():
    from pyspark.sql import SparkSession

    sys.path.insert(0, str(FLEET))
    import spark_job

    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark_job.views(spark, TABLES)
    spark.read.parquet(f"{TABLES}/table=commands").createOrReplaceTempView("commands")
    return lambda query: [tuple(row) for row in spark.sql(query).collect()]


def ctl(command, trace, *words):
    done = subprocess.run([TOOL, command, trace, *words, "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def compare_objects(rows, trace):
    """Compares when some objects of a trace were made and deleted with `gapii-ctl history`."""
    objects = rows("SELECT o.kind, o.name, o.made_seq, o.deleted_seq FROM objects o JOIN traces t ON t.trace = o.trace WHERE t.file = '"
                   + trace + "' ORDER BY o.kind, o.name, o.made_seq")
    assert objects, f"{trace} has no objects"
    # One of each kind.
    for kind, name, made, deleted in {row[0]: row for row in objects}.values():
        lives = ctl("history", trace, f"{kind.lower()}:{int(name)}")["objects"]
        lives = [(life["made"], life["deleted"]) for life in lives]
        assert (made, deleted) in lives, f"{trace}: {kind} {name} was made by {made} and deleted by {deleted}, history has {lives}"


def compact(day):
    """Makes the compact tables of a day with DuckDB, and returns how many traces, frames and commands they have."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        before = os.getcwd()
        os.chdir(folder)
        base = duckdb.connect()
        base.execute(f"SET VARIABLE tables = '{TABLES}'; SET VARIABLE day = '{day}'")
        base.execute((FLEET / "views.sql").read_text())
        base.execute((FLEET / "compact.sql").read_text())
        counts = "SELECT count(DISTINCT t.trace), count(*), sum(f.commands) FROM frames f JOIN traces t ON t.trace = f.trace AND t.host = f.host"
        os.chdir(before)
        base.execute("SET VARIABLE tables = '" + folder + "/compact'")
        base.execute((FLEET / "views.sql").read_text())
        return base.execute(counts).fetchone()


def main():
    rows = {"duckdb": duckdb_rows, "spark": spark_rows}[ENGINE]()
    traces = sorted(str(path) for path in pathlib.Path(TRACES).rglob("*.gapii"))
    sums = collections.Counter()
    functions, severities, partitions = collections.Counter(), collections.Counter(), collections.Counter()
    for trace in traces:
        stats, info = ctl("stats", trace), ctl("info", trace)
        sums.update({column: stats[column] for column in TOTALS})
        for clock in ["driver", "gpu"]:
            sums[f"{clock}_ns"] += (stats[clock] or {"total_ns": 0})["total_ns"]
        for frame in stats["frames"]:
            sums["rows of frames"] += 1
            sums["complete frames"] += frame["is_complete"]
            sums.update({f"{column} of frames": frame[column] or 0 for column in OF_FRAMES})
        for function in stats["functions"]:
            functions.update({(function["name"], column): function[column] for column in OF_FUNCTIONS})
            for clock in ["driver", "gpu"]:
                functions[function["name"], f"{clock}_ns"] += (function[clock] or {"total_ns": 0})["total_ns"]
        for problem in ctl("problems", trace)["problems"]:
            severities[problem["severity"]] += problem["count"]
        began = datetime.datetime.fromtimestamp(info["started_unix_ns"] / 1e9, datetime.timezone.utc)
        partitions[str(began.date()), info.get("host", "unknown")] += 1
        sums["frames that ended"] += info["frames"]

    found = collections.Counter()
    columns = [*TOTALS, "driver_ns", "gpu_ns"]
    [row] = rows("SELECT " + ", ".join(f"coalesce(sum({it}), 0)" for it in columns) + ", sum(frames) FROM traces")
    found.update(dict(zip([*columns, "frames that ended"], map(int, row))))
    [row] = rows("SELECT count(*), count(CASE WHEN is_complete THEN 1 END), "
                 + ", ".join(f"coalesce(sum({it}), 0)" for it in OF_FRAMES) + " FROM frames")
    named = ["rows of frames", "complete frames", *(f"{it} of frames" for it in OF_FRAMES)]
    found.update(dict(zip(named, map(int, row))))
    for name, expected in sums.items():
        print(f"{name:30}{expected:>16}{found[name]:>16}")
        assert found[name] == expected, f"{name}: {expected} in `gapii-ctl`, {found[name]} in the tables"
    assert sums["commands"] > 0 and sums["uploaded_bytes"] > 0 and sums["driver_ns"] > 0, "the traces show too little"

    columns = [*OF_FUNCTIONS, "driver_ns", "gpu_ns"]
    in_tables = collections.Counter()
    for name, *values in rows("SELECT function, " + ", ".join(f"coalesce(sum({it}), 0)" for it in columns)
                              + " FROM functions GROUP BY function"):
        in_tables.update({(name, column): int(value) for column, value in zip(columns, values)})
    assert in_tables == functions, "functions differ"
    in_tables = {severity: int(count) for severity, count in rows("SELECT severity, sum(count) FROM problems GROUP BY severity")}
    assert in_tables == severities, f"problems: {dict(severities)} in `gapii-ctl`, {in_tables} in the tables"
    in_tables = {(str(day), host): count for day, host, count in rows("SELECT day, host, count(*) FROM traces GROUP BY day, host")}
    assert in_tables == partitions, f"partitions: {dict(partitions)} in `gapii-ctl`, {in_tables} in the tables"

    if ENGINE == "duckdb":
        for trace in traces[:10]:
            compare_objects(rows, trace)
        compacted = [compact(day) for day in sorted({day for day, _ in partitions})]
        compacted = [sum(counts) for counts in zip(*compacted)]
        expected = [len(traces), sums["rows of frames"], sums["commands"]]
        assert compacted == expected, f"{compacted} traces, frames and commands are compacted, of {expected}"
    [(count, uploaded)] = rows("SELECT count(*), sum(uploaded_bytes) FROM objects")
    assert 0 < uploaded <= sums["uploaded_bytes"], f"{uploaded} bytes in objects"
    print(f"{count} objects, with {uploaded} of {sums['uploaded_bytes']} uploaded bytes")
    [(count, own, uploaded)] = rows("SELECT count(*), count(CASE WHEN NOT is_setup THEN 1 END), sum(uploaded_bytes) FROM commands")
    assert (own, count) == (sums["commands"], sums["commands"] + sums["setup_commands"]), f"{count} rows of commands"
    assert uploaded >= sums["uploaded_bytes"], f"{uploaded} bytes in commands"

    for query in sorted((FLEET / "queries").glob("*.sql")):
        answer = rows(query.read_text())
        print(f"{query.stem}: {len(answer)} rows")
        assert answer, f"{query.stem} has no answer"


main()
