//! Linker options of the layer.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for argument in [
        // The name under which loaders open it.
        "-Wl,-soname,libze_tracing_layer.so.1",
        // The loader closes the layer while threads may still be inside it.
        "-Wl,-z,nodelete",
        // The loader exports the same names; references inside the layer must not lead to the loader.
        "-Wl,-Bsymbolic",
    ] {
        println!("cargo:rustc-cdylib-link-arg={argument}");
    }
}
