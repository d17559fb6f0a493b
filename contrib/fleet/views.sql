-- Views of the tables for DuckDB. Say first where the tables are:
--   SET VARIABLE tables = 's3://lab/tables';
CREATE OR REPLACE VIEW traces AS
    FROM read_parquet(getvariable('tables') || '/table=traces/**/*.parquet', hive_partitioning = true, hive_types_autocast = false, union_by_name = true);
CREATE OR REPLACE VIEW frames AS
    FROM read_parquet(getvariable('tables') || '/table=frames/**/*.parquet', hive_partitioning = true, hive_types_autocast = false, union_by_name = true);
CREATE OR REPLACE VIEW functions AS
    FROM read_parquet(getvariable('tables') || '/table=functions/**/*.parquet', hive_partitioning = true, hive_types_autocast = false, union_by_name = true);
CREATE OR REPLACE VIEW objects AS
    FROM read_parquet(getvariable('tables') || '/table=objects/**/*.parquet', hive_partitioning = true, hive_types_autocast = false, union_by_name = true);
CREATE OR REPLACE VIEW problems AS
    FROM read_parquet(getvariable('tables') || '/table=problems/**/*.parquet', hive_partitioning = true, hive_types_autocast = false, union_by_name = true);
