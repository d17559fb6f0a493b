-- Makes one file of each table, day and host, in DuckDB, in place of one for each trace. Run it for days that are over, and delete the
-- small files afterwards. Say first where the tables are, and read views.sql:
--   SET VARIABLE tables = 's3://lab/tables'; SET VARIABLE day = '2026-11-30';
-- The new files go below `compact`: COPY takes no variable for its place, so write another one here. They have the form of the tables.
COPY (FROM traces WHERE day = getvariable('day')) TO 'compact'
    (FORMAT parquet, COMPRESSION zstd, PARTITION_BY ("table", day, host), FILENAME_PATTERN 'day-{i}', OVERWRITE_OR_IGNORE);
COPY (FROM frames WHERE day = getvariable('day')) TO 'compact'
    (FORMAT parquet, COMPRESSION zstd, PARTITION_BY ("table", day, host), FILENAME_PATTERN 'day-{i}', OVERWRITE_OR_IGNORE);
COPY (FROM functions WHERE day = getvariable('day')) TO 'compact'
    (FORMAT parquet, COMPRESSION zstd, PARTITION_BY ("table", day, host), FILENAME_PATTERN 'day-{i}', OVERWRITE_OR_IGNORE);
COPY (FROM objects WHERE day = getvariable('day')) TO 'compact'
    (FORMAT parquet, COMPRESSION zstd, PARTITION_BY ("table", day, host), FILENAME_PATTERN 'day-{i}', OVERWRITE_OR_IGNORE);
COPY (FROM problems WHERE day = getvariable('day')) TO 'compact'
    (FORMAT parquet, COMPRESSION zstd, PARTITION_BY ("table", day, host), FILENAME_PATTERN 'day-{i}', OVERWRITE_OR_IGNORE);
