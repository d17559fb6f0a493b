-- Errors of each kind, by driver: traces that have any, and how many occurred in a million commands.
SELECT d.renderer, d.driver_version, p.kind, d.traces, count(DISTINCT p.trace) AS traces_with_errors, sum(p.count) AS errors,
       sum(p.count) * 1e6 / d.commands AS errors_per_million
FROM (
    SELECT renderer, driver_version, count(*) AS traces, sum(commands) AS commands
    FROM traces
    GROUP BY renderer, driver_version
) d
JOIN traces t ON coalesce(t.renderer, '') = coalesce(d.renderer, '') AND coalesce(t.driver_version, '') = coalesce(d.driver_version, '')
JOIN problems p ON p.trace = t.trace AND p.severity = 'error'
GROUP BY d.renderer, d.driver_version, p.kind, d.traces, d.commands
ORDER BY errors DESC, d.renderer, d.driver_version, p.kind
