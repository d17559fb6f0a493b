# Runs as root in a bare Debian, with the packages in /seen: installs them, compares what is left after their removal,
# installs them again, and runs the commands of the README's first page, which are in /seen/commands.
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
PACKAGES="gapii libgapii0 libgapii-dev gapii-level-zero gapii-mcp gapii-fleet"

files() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /seen \
        -o -path /var/cache/apt -o -path /var/cache/debconf -o -path /var/lib/apt -o -path /var/log -o -path /var/lib/dpkg \) -prune \
        -o -print | sort
}

# A mirror of testing may be older than its index says that it is valid.
apt_get() {
    apt-get -o Acquire::Check-Valid-Until=false --quiet --quiet --yes -o Dpkg::Use-Pty=0 "$@" >/tmp/apt.log 2>&1 || {
        cat /tmp/apt.log
        exit 1
    }
}

apt_get update
files >/tmp/before
apt_get --no-install-recommends install /seen/*.deb
files >/tmp/between
echo "installed $(comm -13 /tmp/before /tmp/between | wc -l) files and folders"
gapii --version
gapii-ctl --version
gapiid --version
/usr/libexec/gapii/gapii-mcp --version
/usr/libexec/gapii/gapii-tables --version
gapii-upload --version
apt_get purge $PACKAGES
apt_get autoremove --purge
files >/tmp/after
if ! diff /tmp/before /tmp/after; then
    echo "the packages leave this behind"
    exit 1
fi
echo "removed without a trace"

apt_get install /seen/*.deb xvfb mesa-utils libgl1-mesa-dri gcc libc6-dev pkgconf libsm6
Xvfb :77 -screen 0 640x480x24 -nolisten tcp >/tmp/xvfb.log 2>&1 &
xvfb=$!
export DISPLAY=:77
until [ -e /tmp/.X11-unix/X77 ]; do kill -0 $xvfb; sleep 0.1; done
mkdir /tmp/work
cd /tmp/work
while read -r line; do
    echo "\$ $line"
    sh -c "$line" </dev/null >/tmp/said 2>&1 || {
        cat /tmp/said
        exit 1
    }
    head -n 3 /tmp/said
done </seen/commands
cc -std=c11 -shared -fPIC -o draws.so /usr/share/doc/libgapii-dev/examples/draws.c $(pkg-config --cflags --libs gapii)
echo 'int main(void) { return 0; }' >main.c
cc -o main main.c $(pkg-config --cflags --libs gapii-static)
./main
kill $xvfb
wait $xvfb || true
echo "the commands of the README's first page do what they say"
