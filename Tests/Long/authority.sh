#!/bin/bash
# `larder ca install` and `uninstall` on this very system (Debian, root), in a mount namespace where copies stand over its stores.
set -euo pipefail

if [[ $EUID -ne 0 ]] || ! command -v update-ca-certificates > /dev/null || ! unshare -m true; then
    echo "left out: it needs root, update-ca-certificates and a mount namespace"
    exit 0
fi
if [[ -z "${INSIDE:-}" ]]; then INSIDE=1 exec unshare -m "$0"; fi

for place in /etc/ssl /etc/ca-certificates /usr/local/share/ca-certificates /var/lib/ca-certificates-java /var/lib/dpkg; do
    [[ -d $place ]] || continue
    mkdir -p "$WORK/copy$place"
    cp -a "$place/." "$WORK/copy$place/"
    mount --bind "$WORK/copy$place" "$place"
done
export HOME="$WORK/home" XDG_DATA_HOME="$WORK/data"
unset SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE
mkdir -p "$HOME/.pki/nssdb"
if command -v certutil > /dev/null; then certutil -N -d "sql:$HOME/.pki/nssdb" --empty-password; fi

# Java's file has times in it: its list is compared.
stores() {
    find /etc/ssl /usr/local/share/ca-certificates ! -path /etc/ssl/certs/java/cacerts \( -type f -o -type l \) -printf '%p %l\n' | sort
    find /etc/ssl /usr/local/share/ca-certificates ! -path /etc/ssl/certs/java/cacerts -type f -print0 | sort -z | xargs -0 sha256sum
    if command -v certutil > /dev/null; then certutil -L -d "sql:$HOME/.pki/nssdb"; fi
    if command -v keytool > /dev/null; then keytool -J-Duser.language=en -list -cacerts -storepass changeit | grep SHA-256 | sort; fi
}

update-ca-certificates > /dev/null 2>&1
stores > "$WORK/before"
"$LARDER" ca init --constrain origin.test
ca="$XDG_DATA_HOME/larder/ca/current"

openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj / -keyout "$WORK/server.key" -out "$WORK/server.csr" 2> /dev/null
printf '%s\n' 'subjectAltName=critical,DNS:origin.test' 'extendedKeyUsage=serverAuth' > "$WORK/extensions"
openssl x509 -req -in "$WORK/server.csr" -CA "$ca/root.pem" -CAkey "$ca/root.key" -days 1 -extfile "$WORK/extensions" \
    -out "$WORK/server.pem" 2> /dev/null
openssl s_server -accept 127.0.0.1:0 -cert "$WORK/server.pem" -key "$WORK/server.key" -www > "$WORK/said" 2> /dev/null &
server=$!
trap 'kill -9 $server' EXIT
until port=$(sed -nE 's/^ACCEPT .*:([0-9]+)$/\1/p' "$WORK/said") && [[ -n $port ]]; do
    kill -0 $server
    sleep 0.05
done

# 0 is belief, 60 is none.
expect_curl_to_end_with() {
    local code=0
    curl -q -s --noproxy '*' -o /dev/null --resolve "origin.test:$port:127.0.0.1" "https://origin.test:$port/" || code=$?
    [[ $code == "$1" ]] || { echo "curl ended with $code, not with $1" >&2; exit 1; }
}

expect_curl_to_end_with 60
"$LARDER" ca install --yes
expect_curl_to_end_with 0
"$LARDER" ca uninstall --yes
expect_curl_to_end_with 60
stores > "$WORK/after"
cmp "$WORK/before" "$WORK/after"
echo "believed while it was installed, and every store is as it was"
