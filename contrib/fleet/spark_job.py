"""Asks the tables of `gapii-ctl export --format parquet` with Apache Spark.

    spark-submit contrib/fleet/spark_job.py s3a://lab/tables contrib/fleet/queries/*.sql --output s3a://lab/answers

Each file has one query. Its answer is printed, and with --output written as Parquet, into a folder with the name of the query.
`views` serves other jobs, too: it makes the views that the queries name.
"""

import argparse
import pathlib

from pyspark.sql import SparkSession

TABLES = ["traces", "frames", "functions", "objects", "problems"]


def views(spark, tables):
    """Makes a view of each table below the folder `tables`."""
    # Without it a host named `007` would be the number 7.
    spark.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    for table in TABLES:
        spark.read.parquet(f"{tables}/table={table}").createOrReplaceTempView(table)


def main():
    parser = argparse.ArgumentParser(description="Ask the tables of traces with Spark")
    parser.add_argument("tables", help="folder or URL with the tables")
    parser.add_argument("queries", nargs="+", type=pathlib.Path, help="files with a query each")
    parser.add_argument("--output", help="folder or URL for the answers")
    parser.add_argument("--master", help="Spark's master, such as local[2]; by default that of spark-submit")
    parser.add_argument("--rows", type=int, default=50, help="rows that are printed")
    options = parser.parse_args()
    builder = SparkSession.builder.appName("gapii tables")
    if options.master:
        builder = builder.master(options.master)
    spark = builder.getOrCreate()
    views(spark, options.tables)
    for query in options.queries:
        answer = spark.sql(query.read_text())
        print(query.stem)
        answer.show(options.rows, truncate=False)
        if options.output:
            answer.write.mode("overwrite").parquet(f"{options.output}/{query.stem}")
    spark.stop()


if __name__ == "__main__":
    main()
