-- One file of each table and day, in DuckDB, in place of one for each trace. Run it for days that are over, and delete the
-- small files afterwards. Say first where the tables are and where the new ones go:
--   SET VARIABLE tables = 's3://lab/tables'; SET VARIABLE day = '2026-11-30';
-- and read views.sql. Paths of COPY are literal: put the new place into the lines below.
COPY (FROM traces WHERE day = getvariable('day')) TO 'compact/table=traces'
    (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (day, host), FILENAME_PATTERN 'day-{i}', OVERWRITE_OR_IGNORE);
COPY (FROM frames WHERE day = getvariable('day')) TO 'compact/table=frames'
    (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (day, host), FILENAME_PATTERN 'day-{i}', OVERWRITE_OR_IGNORE);
COPY (FROM functions WHERE day = getvariable('day')) TO 'compact/table=functions'
    (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (day, host), FILENAME_PATTERN 'day-{i}', OVERWRITE_OR_IGNORE);
COPY (FROM objects WHERE day = getvariable('day')) TO 'compact/table=objects'
    (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (day, host), FILENAME_PATTERN 'day-{i}', OVERWRITE_OR_IGNORE);
COPY (FROM problems WHERE day = getvariable('day')) TO 'compact/table=problems'
    (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (day, host), FILENAME_PATTERN 'day-{i}', OVERWRITE_OR_IGNORE);
