//! How the library is linked: its soname is `libgapii.so`, whatever the file is called, so that a tool linked with it
//! gets the copy that the process has already.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // A tool that is linked with it gets the one that is in the process, under whichever file's name.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libgapii.so");
}
