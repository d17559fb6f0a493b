# Weston with a client that draws, so that there is something to compose. Arguments are Weston's.
weston "$@" --socket=gapii-recorded --idle-time=0 &
server=$!
trap 'kill $server' TERM
until WAYLAND_DISPLAY=gapii-recorded weston-simple-shm 2>/dev/null; do
    kill -0 $server || exit 1
    sleep 0.1
done
