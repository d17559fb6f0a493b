-- The ten slowest frames of each version of a program. The version is the tag `version`.
SELECT program, version, trace, process, frame, duration_ns / 1e6 AS duration_ms, draws, commands
FROM (
    SELECT t.program, t.tags['version'] AS version, f.trace, f.process, f.frame, f.duration_ns, f.draws, f.commands,
           row_number() OVER (PARTITION BY t.program, t.tags['version'] ORDER BY f.duration_ns DESC, f.trace, f.process, f.frame) AS place
    FROM frames f JOIN traces t ON t.trace = f.trace
    WHERE f.is_complete AND f.duration_ns IS NOT NULL
) ranked
WHERE place <= 10
ORDER BY program, version, place
