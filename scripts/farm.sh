#!/bin/sh
# Starts a farm on this machine, for trying: N nodes, each with a Larder for its clients and a parent. All nodes share the N parents.
#
#   scripts/farm.sh [N] [FOLDER]
#
# N is 3 by default. FOLDER gets the settings, stores, logs and certificates; it is a new temporary folder by default. The nodes listen on
# 127.0.0.1:4180, 4181 …, and their parents on 4280, 4281 …. LARDER is the program (default: larder), FARM_PORT the first node's port.
# CTRL-C stops the farm.
set -eu

count=${1:-3}
folder=${2:-$(mktemp -d /tmp/larder-farm.XXXXXX)}
larder=${LARDER:-larder}
port=${FARM_PORT:-4180}
parent_port=$((port + 100))

case $count in '' | *[!0-9]* | 0) echo "farm.sh: the number of nodes must be a number from 1 to 64" >&2; exit 2 ;; esac
[ "$count" -le 64 ] || { echo "farm.sh: the number of nodes must be a number from 1 to 64" >&2; exit 2; }
mkdir -p "$folder"
cd "$folder"

# One CA certifies the parents' listeners. It is not the CA that issues certificates for intercepted hosts.
if [ ! -f farm-ca.pem ]; then
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout farm-ca.key -out farm-ca.pem -days 30 \
        -subj "/CN=Larder farm for trying" -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign" 2> openssl.log
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout parent.key -out parent.csr -subj "/CN=parent" 2>> openssl.log
    printf 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n' > parent.ext
    openssl x509 -req -in parent.csr -CA farm-ca.pem -CAkey farm-ca.key -CAcreateserial -days 30 -extfile parent.ext -out parent.pem \
        2>> openssl.log
    chmod 600 farm-ca.key parent.key
fi

members=""
number=0
while [ "$number" -lt "$count" ]; do
    members="$members${members:+, }\"https://127.0.0.1:$((parent_port + number))\""
    number=$((number + 1))
done

pids=""
stop() {
    trap - INT TERM EXIT
    for pid in $pids; do kill "$pid" 2> /dev/null || true; done
    wait
}
trap stop EXIT
trap 'stop; exit 0' INT TERM

number=0
while [ "$number" -lt "$count" ]; do
    cat > "parent-$number.yaml" <<SETTINGS
listen: [{address: "127.0.0.1:$((parent_port + number))", tls: {certificate: parent.pem, key: parent.key}}]
store: {path: $folder/parent-$number.sqlite}
admin: {socket: $folder/parent-$number.sock}
log: {access: {path: $folder/parent-$number.log}}
egress: {addresses: {private: allow}}
SETTINGS
    cat > "node-$number.yaml" <<SETTINGS
listen: ["127.0.0.1:$((port + number))"]
store: {path: $folder/node-$number.sqlite}
admin: {socket: $folder/node-$number.sock}
log: {access: {path: $folder/node-$number.log}}
egress: {addresses: {private: allow}}
upstream:
  way: farm
  ways:
    - {name: farm, parents: {members: [$members], hash: key}}
tls:
  hosts:
    127.0.0.1: {anchors: {bundle: farm-ca.pem}}
SETTINGS
    for kind in parent node; do
        "$larder" serve -c "$kind-$number.yaml" 2> "$kind-$number.err" &
        pids="$pids $!"
    done
    number=$((number + 1))
done

echo "farm.sh: $count nodes in $folder; clients use http://127.0.0.1:$port to http://127.0.0.1:$((port + count - 1))"
echo "farm.sh: larder status --socket $folder/node-0.sock shows the parents; CTRL-C stops the farm"
# A Larder that ends at once has written the reason into its file.
for pid in $pids; do wait "$pid" || { cat ./*.err >&2; exit 1; }; done
