//! Requests the features with which a build of the whole workspace compiles its dependencies, and holds no code.
//!
//! Cargo compiles a dependency for the features that the packages on its command line request together. A build of one
//! package would therefore compile dependencies anew that a build of all packages has compiled before. A build that
//! also names this package compiles nothing twice: `cargo build -p gapii-replay -p gapii-features`.
