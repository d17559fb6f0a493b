//! `gapii-upload`: uploads finished traces and tables from a folder.

fn main() {}
