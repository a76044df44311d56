#!/bin/bash
# Chromium, headless, behind a Larder whose root `larder ca install` has put into an NSS database: a page with a style sheet, a script and
# a picture without a warning, and again from the store with the origin stopped. SCREENSHOT=FILE keeps what it looked like then. And a
# WebSocket over TLS through `larder run`, whose own root stands in a database of its own for as long.
set -euo pipefail
for program in chromium certutil openssl python3; do
    if ! command -v "$program" > /dev/null; then
        echo "left out: it needs $program"
        exit 0
    fi
done
export HOME="$WORK/home" XDG_RUNTIME_DIR="$WORK/run"
unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME
mkdir -p "$HOME/.pki/nssdb" "$HOME/.config/larder" "$XDG_RUNTIME_DIR" "$WORK/site"
certutil -N -d "sql:$HOME/.pki/nssdb" --empty-password

key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
openssl req -x509 "${key[@]}" -subj "/CN=Origin's authority" -days 2 -keyout "$WORK/ca.key" -out "$WORK/ca.pem" 2> /dev/null
openssl req "${key[@]}" -subj / -keyout "$WORK/origin.key" -out "$WORK/origin.csr" 2> /dev/null
printf '%s\n' 'subjectAltName=critical,DNS:origin.test' 'extendedKeyUsage=serverAuth' > "$WORK/extensions"
openssl x509 -req -in "$WORK/origin.csr" -CA "$WORK/ca.pem" -CAkey "$WORK/ca.key" -days 2 -extfile "$WORK/extensions" \
    -out "$WORK/origin.pem" 2> /dev/null

cat > "$WORK/site/index.html" << 'EOF'
<!doctype html><title>Larder</title><link rel=stylesheet href=/style.css><script src=/script.js></script>
<h1>Behind Larder</h1><img src=/picture.svg><p id=said>The script did not run.</p><script>said()</script>
EOF
echo 'h1 {color: darkgreen} body {font-family: sans-serif}' > "$WORK/site/style.css"
echo 'function said() { document.getElementById("said").textContent = "The script ran: " + location.href.split(":")[0] }' > "$WORK/site/script.js"
echo '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60"><circle cx="30" cy="30" r="28" fill="orange"/></svg>' \
    > "$WORK/site/picture.svg"
# The page is loaded once `done` has been, which the server holds back until it has been told so by the socket.
cat > "$WORK/site/socket.html" << 'EOF'
<!doctype html><title>Larder</title><p id=said>Nothing came back.</p><script>
const sent = ["one", "\u00fc".repeat(100000), "x".repeat(1000000), new Uint8Array([0, 255, 1])]
const socket = new WebSocket(`wss://${location.host}/`)
const text = data => typeof data == "string" ? data : String(new Uint8Array(data))
let same = 0, count = 0
socket.binaryType = "arraybuffer"
socket.onopen = () => sent.forEach(message => socket.send(message))
socket.onmessage = event => {
    if (text(event.data) == text(sent[count++])) same++
    if (count < sent.length) return
    said.textContent = `${same} of ${count} came back by ${new URL(socket.url).protocol}`
    socket.send("done")
    socket.onmessage = null
}
</script><img src=done>
EOF
cat > "$WORK/origin.py" << 'EOF'
import base64, functools, hashlib, http.server, ssl, struct, sys, threading
class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    done = threading.Event()
    def end_headers(self):
        self.send_header("Cache-Control", "max-age=3600")
        super().end_headers()
    def do_GET(self):
        if self.headers.get("Upgrade") == "websocket":
            return self.echo()
        if self.path == "/done":
            self.done.wait(60)
        super().do_GET()
    def echo(self):  # RFC 6455
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest())
        self.wfile.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                         b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")
        self.close_connection = True
        while len(head := self.rfile.read(2)) == 2:
            count = head[1] & 0x7F
            if count > 125:
                count = int.from_bytes(self.rfile.read(2 if count == 126 else 8), "big")
            mask, data = self.rfile.read(4), self.rfile.read(count)
            mask = (mask * (count // 4 + 1))[:count]
            data = (int.from_bytes(data, "big") ^ int.from_bytes(mask, "big")).to_bytes(count, "big")
            if data == b"done":
                self.done.set()
            length = bytes([count]) if count < 126 else struct.pack("!BH", 126, count) if count < 65536 else struct.pack("!BQ", 127, count)
            self.wfile.write(head[:1] + length + data)
            if head[0] & 0x0F == 8:
                return
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=sys.argv[1] + "/site"))
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1] + "/origin.pem", sys.argv[1] + "/origin.key")
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
open(sys.argv[1] + "/origin.port", "w").write(str(server.server_address[1]))
server.serve_forever()
EOF
python3 "$WORK/origin.py" "$WORK" 2> /dev/null &
origin=$!
trap 'kill $origin 2> /dev/null || true; "$LARDER" stop > /dev/null 2>&1 || true' EXIT
until test -s "$WORK/origin.port"; do kill -0 $origin; sleep 0.05; done
url="https://origin.test:$(cat "$WORK/origin.port")/"

cat > "$HOME/.config/larder/config.yaml" << EOF
listen: ["127.0.0.1:0"]
log: {access: {path: $WORK/access.log}}
resolve: {origin.test: 127.0.0.1}
tunnel: {ports: any}
tls: {default: {connect: intercept}, hosts: {origin.test: {anchors: {bundle: $WORK/ca.pem}, connect: intercept}}}
EOF
"$LARDER" ca init > /dev/null 2>&1
"$LARDER" ca install --only nss --yes 2> /dev/null
"$LARDER" serve -q --port-file "$WORK/port" &
until test -s "$WORK/port"; do kill -0 $!; sleep 0.05; done
eval "$("$LARDER" env)"

failed=0
check() { if [[ "$2" == *"$3"* ]]; then echo "ok      $1"; else echo "FAILED  $1: $2"; failed=1; fi; }
page() { timeout 90 chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$(mktemp -d -p "$WORK")" "$@" "$url" 2> /dev/null; }
lines() { sleep 0.3; sed -n 's/.*"url":"https:[^"]*\/\([a-z.]*\)","status":200,"cache":"\([a-z]*\)".*/\2 \1/p' "$WORK/access.log" | sort -u | tr '\n' ';'; }

check "the page is shown, with all that it names" "$(page --dump-dom)" "The script ran: https"
check "each of them was fetched" "$(lines)" "miss ;miss picture.svg;miss script.js;miss style.css;"

cat > "$WORK/behind" << 'EOF'
export HOME=$(mktemp -d -p "$WORK")
mkdir -p "$HOME/.pki/nssdb"
certutil -N -d "sql:$HOME/.pki/nssdb" --empty-password
# The first one is the run's own root; Chromium is to believe no origin by itself.
openssl x509 -in "$NODE_EXTRA_CA_CERTS" | certutil -A -d "sql:$HOME/.pki/nssdb" -t C,, -n run
timeout 90 chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$HOME/data" --dump-dom "${1}socket.html" 2> /dev/null
EOF
export WORK
said=$("$LARDER" run --store :memory: --log "$WORK/run.log" -- bash "$WORK/behind" "$url" || true)
check "messages come back by a WebSocket through larder run" "$said" "4 of 4 came back by wss:"
check "by an upgrade that Larder saw" "$(grep -o '"url":"https:[^"]*","status":101' "$WORK/run.log" || true)" "\"$url\",\"status\":101"

kill $origin
: > "$WORK/access.log"
check "the origin stopped, it is shown by a browser that never saw it" "$(page --dump-dom)" "The script ran: https"
check "each of them came from the store" "$(lines)" "hit ;hit picture.svg;hit script.js;hit style.css;"
if [[ -n "${SCREENSHOT:-}" ]]; then page --screenshot="$SCREENSHOT" --window-size=480,240 --hide-scrollbars; fi
exit $failed
