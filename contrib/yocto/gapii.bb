# Yocto recipe for gapii on a board, for example with meta-freescale or meta-raspberrypi and arm64.
#
# This recipe has not been built. It follows the manual of Yocto 5.0 (scarthgap), whose Rust is too old: Rust 1.88 or
# later is needed, for example from meta-lts-mixins or from a newer release.
#
# 1. Put this file into a layer, as recipes-graphics/gapii/gapii.bb.
# 2. In local.conf name a repository and a commit:
#        GAPII_REPOSITORY = "git:///home/me/gapii;protocol=file;branch=main"
#        SRCREV:pn-gapii = "..."
# 3. `bitbake -c update_crates gapii` writes gapii-crates.inc, the list of the crates that Cargo.lock names.
# 4. IMAGE_INSTALL:append = " gapii"
#
# On the board: gapii-ctl run -o trace.gapii -- PROGRAM

SUMMARY = "Records the commands that programs send to OpenGL ES and EGL"
LICENSE = "Apache-2.0"
LIC_FILES_CHKSUM = "file://LICENSE;md5=3b83ef96387f14655fc854ddc3c6bd57"

GAPII_REPOSITORY ?= "git:///gapii;protocol=file;branch=main"
SRC_URI = "${GAPII_REPOSITORY}"
S = "${WORKDIR}/git"

inherit cargo cargo-update-recipe-crates systemd

require gapii-crates.inc

# The shim is built alone: with other packages cargo would give its libraries the features that those request.
do_compile() {
    oe_cargo_build --package gapiid --package gapii-ctl
    oe_cargo_build --package gapii-shim
}

# As Layout::Prefix in package/src/layout.rs: gapii-ctl looks for the shim in ../lib/gapii.
do_install() {
    built=${B}/target/${CARGO_TARGET_SUBDIR}
    install -d ${D}${bindir} ${D}${nonarch_libdir}/gapii/sonames ${D}${systemd_system_unitdir}
    install -m 0755 $built/gapiid $built/gapii-ctl ${D}${bindir}
    ln -s gapii-ctl ${D}${bindir}/gapii
    install -m 0644 $built/libgapii.so ${D}${nonarch_libdir}/gapii
    for name in libEGL.so libEGL.so.1 libGLESv1_CM.so libGLESv1_CM.so.1 libGLESv2.so libGLESv2.so.2; do
        ln -s ../libgapii.so ${D}${nonarch_libdir}/gapii/sonames/$name
    done
    install -m 0644 ${S}/systemd/gapiid.service ${S}/systemd/gapiid.socket ${D}${systemd_system_unitdir}
}

SYSTEMD_SERVICE:${PN} = "gapiid.socket"
SYSTEMD_AUTO_ENABLE = "disable"

# The links are no libraries for others to link with, and no other package must come to need them.
FILES:${PN} += "${nonarch_libdir}/gapii ${systemd_system_unitdir}"
FILES:${PN}-dev = ""
INSANE_SKIP:${PN} += "dev-so"
PRIVATE_LIBS = "libgapii.so"
