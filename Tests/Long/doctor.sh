#!/bin/bash
# `larder doctor` on set-ups that need root, another clock or a disk of their own: a root that has ended, clocks that are wrong, a key that its
# owner cannot read, a full disk, a store of another user's. Others are in DoctorTests. What each says to mend it by is run where that can be.
set -euo pipefail

if [[ $EUID -ne 0 ]] || ! unshare -m true || ! command -v faketime > /dev/null; then
    echo "left out: it needs root, a mount namespace and faketime"
    exit 0
fi
if [[ -z "${INSIDE:-}" ]]; then INSIDE=1 exec unshare -m "$0"; fi

failed=0
check() { if [[ "$2" == *"$3"* ]]; then echo "ok      $1"; else echo "FAILED  $1: $2"; failed=1; fi; }

# Everything is done by an ordinary user, whose home this is.
chmod 755 "$WORK"
install -m 755 "$LARDER" "$WORK/larder"
home="$WORK/home"
mkdir -p "$home/.config/larder" "$WORK/disk" "$WORK/bin"
mount -t tmpfs -o size=100m none "$WORK/disk"
ln -s "$WORK/larder" "$WORK/bin/larder"
cat > "$home/.config/larder/config.yaml" << EOF
listen: ["127.0.0.1:0"]
store: {path: $WORK/disk/store/store.sqlite}
log: {access: {format: off}}
tls: {default: {connect: intercept}}
EOF
mkdir "$WORK/disk/store"
chown -R nobody "$home" "$WORK/disk"
as() {
    setpriv --reuid nobody --regid nogroup --clear-groups \
        env -i HOME="$home" XDG_RUNTIME_DIR="$home/run" PATH="$WORK/bin:/usr/local/bin:/usr/bin:/bin" bash -c "$1"
}
doctor() { as "$* larder doctor --client curl" 2>&1 || true; }
remedy() { sed -n 's/^ *fix: //p' <<< "$1"; }

as "faketime -f -3d larder ca init --days 1 && echo made" > /dev/null
said=$(doctor)
check "a root that has ended is named" "$said" "bad      authority: the root certificate expired on"
as "$(remedy "$said" | grep rotate)" > /dev/null 2>&1
check "and mended by what is said" "$(doctor)" "good     authority:"

check "a clock that is behind is named" "$(doctor NO_FAKE_STAT=1 faketime 2020-01-01)" "bad      clock: the clock is slow: it shows 2020-01-0"
check "a clock that is ahead is named" "$(doctor NO_FAKE_STAT=1 faketime 2055-01-01)" "bad      clock: the clock is fast: it shows 2055-01-0"
check "a clock that is right is good" "$(doctor)" "good     clock:"

chmod 000 "$home/.local/share/larder/ca/current/root.key"
said=$(doctor)
check "a key that cannot be read is named" "$said" "root.key: Permission denied"
as "$(remedy "$said" | grep chmod)"
check "and mended by what is said" "$(doctor)" "good     authority:"

chmod 500 "$WORK/disk/store"
said=$(doctor)
check "a folder that cannot be written to is named" "$said" "bad      store: cannot write to $WORK/disk/store: Permission denied"
as "$(remedy "$said" | grep u+rwX)"
check "and mended by what is said" "$(doctor)" "good     store:"

dd if=/dev/zero of="$WORK/disk/filler" bs=1M count=60 2> /dev/null
said=$(doctor)
check "a disk that others fill is named" "$said" "bad      store: the disk of $WORK/disk/store/store.sqlite is almost full"
check "and that it is others" "$said" "; other files use the rest of the disk"
rm "$WORK/disk/filler"
check "and well once there is room" "$(doctor)" "good     store:"

# Filled by the store itself, and mended by what is said, without a Larder that runs and with one.
mkdir "$WORK/files"
for n in 1 2 3 4 5 6; do head -c 10M /dev/urandom > "$WORK/files/$n"; done
touch -d '10 days ago' "$WORK"/files/*
python3 -u -m http.server --bind 127.0.0.1 --directory "$WORK/files" 0 > "$WORK/origin" 2>&1 &
origin=$!
trap 'kill $origin' EXIT
until grep -q port "$WORK/origin"; do sleep 0.1; done
url="http://127.0.0.1:$(sed -n 's/.*port \([0-9]*\).*/\1/p' "$WORK/origin")"
# Not at full speed, and more than once: what comes faster than it can be written is not kept.
fetch="for n in 1 2 3 4 5 6 1 2 3 4 5 6 1 2 3 4 5 6; do curl -fsS --limit-rate 40M -o /dev/null $url/\$n; done"
as "larder run -- sh -c '$fetch'"
said=$(doctor)
check "a disk that the store fills is named" "$said" "bad      store: the disk of $WORK/disk/store/store.sqlite is almost full"
as "$(remedy "$said" | grep -- '^rm -f')"
check "and mended by what is said" "$(doctor)" "good     store:"
as "larder serve --quiet & until larder status > /dev/null 2>&1; do sleep 0.1; done; eval \"\$(larder env)\"; $fetch"
said=$(doctor)
check "and so with a Larder that runs" "$said" "bad      store: the disk of $WORK/disk/store/store.sqlite is almost full"
as "$(remedy "$said" | grep 'larder stop') until larder status > /dev/null 2>&1; do sleep 0.1; done" > /dev/null 2>&1
said=$(doctor)
check "mended by what is said" "$said" "good     store:"
check "and it runs again" "$said" "good     larder: Larder is running"
as "larder stop" > /dev/null 2>&1
exit $failed
