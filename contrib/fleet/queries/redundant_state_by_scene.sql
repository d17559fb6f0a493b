-- The functions that set state to what it was, by scene: the ten with the most such calls. The scene is the tag `scene`.
SELECT scene, function, calls, redundant, redundant * 100.0 / calls AS percent
FROM (
    SELECT t.tags['scene'] AS scene, f.function, sum(f.commands) AS calls, sum(f.redundant) AS redundant,
           row_number() OVER (PARTITION BY t.tags['scene'] ORDER BY sum(f.redundant) DESC, f.function) AS place
    FROM functions f JOIN traces t ON t.trace = f.trace
    GROUP BY t.tags['scene'], f.function
    HAVING sum(f.redundant) > 0
) ranked
WHERE place <= 10
ORDER BY scene, place
