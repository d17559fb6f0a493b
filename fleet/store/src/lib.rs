//! Files in folders and object stores: `s3://`, `gs://`, `az://`, `file://`, and paths.
