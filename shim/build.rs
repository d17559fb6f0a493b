//! How the library is linked: its soname is `libgapii.so`, whatever the file is called, so that a tool linked with it
//! gets the copy that the process has already. It exports no function of another crate.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // A tool that is linked with it gets the one that is in the process, under whichever file's name.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libgapii.so");
    // On arm64 blake3 defines functions with external names for its code in C.
    println!("cargo:rustc-cdylib-link-arg=-Wl,--exclude-libs,ALL");
}
