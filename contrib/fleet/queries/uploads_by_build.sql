-- Bytes that programs upload for each frame, by build. The build is the tag `build`.
SELECT program, tags['build'] AS build, count(*) AS traces, sum(frames) AS frames, sum(uploaded_bytes) AS uploaded_bytes,
       sum(uploaded_bytes) / nullif(sum(frames), 0) AS bytes_per_frame
FROM traces
GROUP BY program, tags['build']
ORDER BY program, build
