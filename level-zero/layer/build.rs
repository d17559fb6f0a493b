//! How the layer is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for argument in [
        // The name under which loaders open it.
        "-Wl,-soname,libze_tracing_layer.so.1",
        // The loader closes it while threads may still be inside.
        "-Wl,-z,nodelete",
        // The loader exports the same names; a reference of ours must not lead there.
        "-Wl,-Bsymbolic",
    ] {
        println!("cargo:rustc-cdylib-link-arg={argument}");
    }
}
