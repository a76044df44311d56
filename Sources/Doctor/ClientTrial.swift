import Foundation

/// A program to test, and how to make it fetch a URL. How the program uses the response does not matter.
package struct ClientTrial: Sendable {
    package let name: String
    let program: String
    /// Returns the program's arguments, for a URL that ends with a slash and for the test's own folder.
    let words: @Sendable (_ url: String, _ folder: String) -> [String]
    /// Further environment variables for the URL and the folder.
    var variables: @Sendable (_ url: String, _ folder: String) -> [String: String] = { _, _ in [:] }
    /// Files to create in the folder first.
    var files: [String: String] = [:]
    /// The outcome to report if the test fails.
    var failure = Finding.Outcome.bad
    /// A frequent cause of a failure, for the report.
    var note = "the program's own settings may override the proxy variables"
    var remedy: String?

    package static let all = [
        ClientTrial(
            name: "curl", program: "curl", words: { url, _ in ["-sS", url] }, remedy: "mv ~/.curlrc ~/.curlrc.off"),
        ClientTrial(name: "wget", program: "wget") { url, _ in ["-q", "-t", "1", "--server-response", "-O", "-", url] },
        ClientTrial(
            name: "git", program: "git", words: { url, _ in ["ls-remote", url] },
            remedy: "git config --global --unset-all http.proxy; git config --global --unset-all http.sslCAInfo"),
        ClientTrial(
            name: "pip", program: "pip",
            words: { url, folder in
                // pip prints the response only at high verbosity, and needs an option to use an index over plain http.
                let options = ["-vv", "--retries", "0", "--disable-pip-version-check", "--no-cache-dir", "--index-url", url]
                let trust = url.hasPrefix("http:") ? ["--trusted-host", TriedClient.host] : []
                return ["download"] + options + trust + ["--no-deps", "-d", folder, "larder-doctor"]
            },
            // The values prevent pip from contacting another index. An empty variable would not override pip's settings file.
            variables: { url, folder in
                ["PIP_EXTRA_INDEX_URL": url, "PIP_FIND_LINKS": folder, "PIP_NO_INDEX": "0", "PIP_TRUSTED_HOST": ""]
            }, remedy: "pip config unset global.proxy; pip config unset global.cert"),
        ClientTrial(name: "python", program: "python3") { url, _ in
            ["-c", "import sys, urllib.request; sys.stdout.write(str(urllib.request.urlopen(sys.argv[1]).status))", url]
        },
        ClientTrial(
            name: "node", program: "node",
            words: { url, _ in
                ["-e", "fetch(process.argv[1]).then(r => console.log(r.status), e => console.log(String(e.cause || e)))", url]
            }, failure: .notable, note: "Node before 22.21 and Node 23 do not read the proxy variables"),
        ClientTrial(
            name: "npm", program: "npm",
            words: { url, folder in ["view", "larder-doctor", "--registry", url, "--fetch-retries", "0", "--cache", folder] },
            variables: { _, _ in ["npm_config_update_notifier": "false"] },
            remedy: "npm config delete proxy https-proxy noproxy cafile"),
        ClientTrial(
            name: "go", program: "go", words: { _, _ in ["list", "-m", "larder.test/doctor@latest"] },
            variables: { url, folder in
                [
                    "GOPROXY": url, "GOSUMDB": "off", "GOPATH": folder, "GOCACHE": "\(folder)/cache", "GOFLAGS": "-modcacherw",
                    // The user's Go settings could make Go fetch private modules directly, or a newer toolchain from its vendor.
                    "GOENV": "off", "GOPRIVATE": "", "GONOPROXY": "", "GOTOOLCHAIN": "local", "GOWORK": "off",
                ]
            }),
        ClientTrial(
            name: "java", program: "java", words: { url, folder in ["\(folder)/Fetch.java", url] },
            files: [
                "Fetch.java": """
                public class Fetch { public static void main(String[] words) throws Exception {
                    var request = java.net.http.HttpRequest.newBuilder(java.net.URI.create(words[0])).build();
                    System.out.println(java.net.http.HttpClient.newHttpClient().send(request,
                        java.net.http.HttpResponse.BodyHandlers.ofString()).statusCode()); } }
                """
            ], remedy: "unset _JAVA_OPTIONS JDK_JAVA_OPTIONS"),
        ClientTrial(name: "ruby", program: "ruby") { url, _ in
            ["-rnet/http", "-ropenssl", "-e", "puts Net::HTTP.get_response(URI(ARGV[0])).code", url]
        },
        ClientTrial(
            name: "perl", program: "perl",
            words: { url, _ in
                let script = "my $r = HTTP::Tiny->new(verify_SSL => 1)->get($ARGV[0]); print \"$r->{status} $r->{content}\""
                return ["-MHTTP::Tiny", "-e", script, url]
            }, failure: .notable, note: "https needs the module IO::Socket::SSL"),
    ]
}
