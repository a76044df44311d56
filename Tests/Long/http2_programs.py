"""Programs of http2_clients.py, each in the language of its client. All but gRPC's: PROXY ROOT FOLDER each|together [METHOD URL CONTENT-FILE]...

Each writes the content of its responses to FOLDER/0, FOLDER/1, … and prints `NUMBER STATUS VERSION`. With `together` all requests are sent before a
response is read. CONTENT-FILE is `-` if there is none.
"""

HTTPX = r"""
import asyncio, pathlib, ssl, sys
import httpx
proxy, root, folder, way, *words = sys.argv[1:]
async def main():
    async with httpx.AsyncClient(http2=True, http1=False, proxy=proxy, verify=ssl.create_default_context(cafile=root), timeout=60,
                                 trust_env=False) as client:
        async def ask(number):
            method, url, file = words[3 * number:3 * number + 3]
            response = await client.request(method, url, content=None if file == "-" else pathlib.Path(file).read_bytes())
            pathlib.Path(folder, str(number)).write_bytes(response.content)
            print(number, response.status_code, response.http_version, flush=True)
        numbers = range(len(words) // 3)
        if way == "together":
            # httpx 0.28 opens a connection for each request that comes before the first tunnel, and fails when it has too many.
            await ask(0)
            await asyncio.gather(*map(ask, numbers[1:]))
        else:
            for number in numbers:
                await ask(number)
asyncio.run(main())
"""

PYCURL = r"""
import io, pathlib, sys
import pycurl
proxy, root, folder, way, *words = sys.argv[1:]
HTTPS2 = 3
def transfer(number):
    method, url, file = words[3 * number:3 * number + 3]
    handle, handle.received, handle.number = pycurl.Curl(), io.BytesIO(), number
    for option, value in [("URL", url), ("PROXY", proxy), ("CAINFO", root), ("PROXY_CAINFO", root), ("WRITEDATA", handle.received), ("PIPEWAIT", 1),
                          ("HTTP_VERSION", pycurl.CURL_HTTP_VERSION_2TLS), ("CUSTOMREQUEST", method), ("TIMEOUT", 60)]:
        handle.setopt(getattr(pycurl, option), value)
    if proxy.startswith("https:"):
        handle.setopt(pycurl.PROXYTYPE, HTTPS2)
    if file != "-":
        content = pathlib.Path(file).read_bytes()
        handle.setopt(pycurl.UPLOAD, 1)
        handle.setopt(pycurl.INFILESIZE, len(content))
        handle.setopt(pycurl.READDATA, io.BytesIO(content))
    return handle
def finish(handle):
    pathlib.Path(folder, str(handle.number)).write_bytes(handle.received.getvalue())
    version = {pycurl.CURL_HTTP_VERSION_2_0: "HTTP/2"}.get(handle.getinfo(pycurl.INFO_HTTP_VERSION), "HTTP/1.1")
    print(handle.number, handle.getinfo(pycurl.RESPONSE_CODE), version, flush=True)
multi = pycurl.CurlMulti()
multi.setopt(pycurl.M_PIPELINING, pycurl.PIPE_MULTIPLEX)
def perform(handles):
    for handle in handles:
        multi.add_handle(handle)
    running = len(handles)
    while running:
        _, running = multi.perform()
        # It does not see what is pending inside TLS.
        multi.select(0.01)
    _, done, failed = multi.info_read(len(handles))
    for handle in done:
        finish(handle)
    for handle in handles:
        multi.remove_handle(handle)
    if failed:
        sys.exit(f"{failed[0][1:]}")
handles = list(map(transfer, range(len(words) // 3)))
if way == "together":
    perform(handles)
else:
    for handle in handles:
        perform([handle])
"""

NODE = r"""
const fs = require("fs"), http = require("http"), http2 = require("http2"), tls = require("tls")
const [proxy, root, folder, way, ...words] = process.argv.slice(2)
const origin = new URL(words[1])
const fail = error => { console.error(error); process.exit(1) }
http.request({host: new URL(proxy).hostname, port: new URL(proxy).port, method: "CONNECT", path: origin.host}).on("error", fail)
    .on("connect", (response, socket) => {
        if (response.statusCode != 200) return fail(response.statusCode)
        const secure = tls.connect({socket, servername: origin.hostname, ca: fs.readFileSync(root), ALPNProtocols: ["h2"]})
        const session = http2.connect(origin.origin, {createConnection: () => secure}).on("error", fail)
        session.on("goaway", code => code && fail(`GOAWAY ${code}`))
        const ask = number => new Promise(resolve => {
            const [method, url, file] = words.slice(3 * number, 3 * number + 3), pieces = []
            const stream = session.request({":method": method, ":path": new URL(url).pathname}, {endStream: file == "-"}).on("error", fail)
            if (file != "-") stream.end(fs.readFileSync(file))
            let status
            stream.on("response", fields => status = fields[":status"]).on("data", piece => pieces.push(piece)).on("end", () => {
                fs.writeFileSync(`${folder}/${number}`, Buffer.concat(pieces))
                console.log(number, status, secure.alpnProtocol == "h2" ? "HTTP/2" : "HTTP/1.1")
                resolve()
            })
        })
        const numbers = [...Array(words.length / 3).keys()]
        const all = way == "together" ? Promise.all(numbers.map(ask))
            : numbers.reduce((before, number) => before.then(() => ask(number)), Promise.resolve())
        all.then(() => session.close(), fail)
    }).end()
"""

GO = r"""
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"
)

func main() {
	proxy, _ := url.Parse(os.Args[1])
	root, _ := os.ReadFile(os.Args[2])
	folder, way, words := os.Args[3], os.Args[4], os.Args[5:]
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(root)
	transport := &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	client := &http.Client{Transport: transport, Timeout: 60 * time.Second}
	ask := func(number int) {
		method, url, file := words[3*number], words[3*number+1], words[3*number+2]
		var content io.Reader
		if file != "-" {
			data, _ := os.ReadFile(file)
			content = bytes.NewReader(data)
		}
		request, _ := http.NewRequest(method, url, content)
		response, err := client.Do(request)
		if err != nil {
			log.Fatal(err)
		}
		data, err := io.ReadAll(response.Body)
		if err != nil {
			log.Fatal(err)
		}
		os.WriteFile(fmt.Sprintf("%s/%d", folder, number), data, 0o600)
		fmt.Println(number, response.StatusCode, response.Proto)
	}
	var group sync.WaitGroup
	for number := 0; number < len(words)/3; number++ {
		if way != "together" {
			ask(number)
			continue
		}
		group.Add(1)
		go func(number int) {
			defer group.Done()
			ask(number)
		}(number)
	}
	group.Wait()
}
"""

JAVA = r"""
import java.io.*;
import java.net.*;
import java.net.http.*;
import java.nio.file.*;
import java.security.*;
import java.security.cert.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import javax.net.ssl.*;

public class Ask {
    static HttpClient client;
    static String[] words;

    static CompletableFuture<Void> ask(int number) {
        try {
            String method = words[4 + 3 * number], url = words[5 + 3 * number], file = words[6 + 3 * number];
            var content = file.equals("-") ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofFile(Path.of(file));
            var request = HttpRequest.newBuilder(URI.create(url)).method(method, content).timeout(Duration.ofSeconds(60)).build();
            return client.sendAsync(request, HttpResponse.BodyHandlers.ofFile(Path.of(words[2], "" + number))).thenAccept(response ->
                System.out.println(number + " " + response.statusCode() + " "
                    + response.version().toString().replace("_1_1", "/1.1").replace("_", "/")));
        } catch (FileNotFoundException error) {
            throw new UncheckedIOException(error);
        }
    }

    public static void main(String[] arguments) throws Exception {
        words = arguments;
        var proxy = URI.create(words[0]);
        var store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setCertificateEntry("root", CertificateFactory.getInstance("X.509").generateCertificate(new FileInputStream(words[1])));
        var trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(store);
        var context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).sslContext(context)
            .proxy(ProxySelector.of(new InetSocketAddress(proxy.getHost(), proxy.getPort()))).build();
        var all = new ArrayList<CompletableFuture<Void>>();
        for (int number = 0; number < (words.length - 4) / 3; number++) {
            var one = ask(number);
            if (words[3].equals("together")) all.add(one); else one.get();
        }
        for (var one : all) one.get();
    }
}
"""

GRPC_RECORDED = r"""
import sys
import grpc
authority, is_secure = sys.argv[1:]
with grpc.secure_channel(authority, grpc.ssl_channel_credentials()) if is_secure == "True" else grpc.insecure_channel(authority) as channel:
    for request in (b"one", b"two"):
        answer, call = channel.unary_unary("/a.B/Reverse").with_call(request, timeout=60)
        print(answer, call.code(), dict(call.initial_metadata())["first-bin"], dict(call.trailing_metadata())["last-bin"])
    print(b"".join(channel.unary_stream("/a.B/Split")(b"abc" * 10_000, timeout=60)))
    print(channel.stream_unary("/a.B/Join")(iter([b"one", b"two"]), timeout=60))
    try:
        channel.unary_unary("/a.B/Fail")(b"", timeout=60)
    except grpc.RpcError as error:
        print(error.code(), error.details(), dict(error.trailing_metadata())["detail-bin"])
"""

GRPC_GO = r"""
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

type bytesCodec struct{}

func (bytesCodec) Marshal(value interface{}) ([]byte, error) { return *(value.(*[]byte)), nil }
func (bytesCodec) Unmarshal(data []byte, value interface{}) error {
	*(value.(*[]byte)) = append([]byte(nil), data...)
	return nil
}
func (bytesCodec) Name() string { return "bytes" }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// AUTHORITY [ROOT]: 20 MB in 2,000 messages, then 1,000 calls. It sends a PING for nearly every frame with data.
func main() {
	security := grpc.WithInsecure()
	if len(os.Args) > 2 {
		root, _ := os.ReadFile(os.Args[2])
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(root)
		security = grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: pool}))
	}
	channel, err := grpc.Dial(os.Args[1], security, grpc.WithDefaultCallOptions(grpc.ForceCodec(bytesCodec{})))
	check(err)
	seconds, cancel := context.WithTimeout(context.Background(), 300*time.Second)
	defer cancel()
	call, err := channel.NewStream(seconds, &grpc.StreamDesc{ServerStreams: true}, "/a.B/Split")
	check(err)
	content, answer, received := make([]byte, 20_000_000), []byte{}, 0
	check(call.SendMsg(&content))
	check(call.CloseSend())
	for received < len(content) {
		check(call.RecvMsg(&answer))
		received += len(answer)
	}
	for number := 0; number < 1000; number++ {
		request := []byte("abc")
		check(channel.Invoke(seconds, "/a.B/Reverse", &request, &answer))
		if string(answer) != "cba" {
			log.Fatal(answer)
		}
	}
	fmt.Println(received)
}
"""
