/// An environment variable that tells programs which proxy to use, or which certificates to trust. `larder run`, `larder env` and
/// docs/run.md are made from this one table.
struct ClientVariable: Sendable {
    /// The value to set.
    enum Meaning: Sendable {
        /// The proxy's URL, such as `http://127.0.0.1:3180`.
        case proxy
        /// The proxy's address and port alone.
        case proxyAddress
        /// An empty value, because requests to hosts in a list of exceptions would bypass the rules.
        case nothing
        case constant(String)
        /// A file with the system's CA certificates and those that Larder adds.
        case bundle
        /// The file of `bundle`, but only if the user set the variable: some programs cannot use the variable, and fail if it is set.
        case replacedBundle
        /// A file with only the certificates that Larder adds, for programs that add them to their own.
        case additions
        /// Java options, appended to the existing ones.
        case javaOptions
        /// wget settings, appended to the user's.
        case wgetSettings
        /// apt settings, appended to the existing ones.
        case aptSettings
        /// The folder of a settings file for PHP, appended to the folders that PHP reads by default.
        case phpFolders

        /// Whether the variable only concerns the certificates to trust.
        var isOfTrust: Bool {
            switch self {
            case .bundle, .replacedBundle, .additions, .phpFolders: true
            case .proxy, .proxyAddress, .nothing, .constant, .javaOptions, .wgetSettings, .aptSettings: false
            }
        }

        /// The description of the value in docs/run.md.
        var about: String {
            switch self {
            case .proxy: "the proxy"
            case .proxyAddress: "the proxy's address and port"
            case .nothing: "empty"
            case .constant(let value): "`\(value)`"
            case .bundle: "the bundle of CA certificates"
            case .replacedBundle: "the bundle of CA certificates, if the variable is already set"
            case .additions: "only Larder's certificates, which the program adds to its own"
            case .javaOptions:
                "the options that the variable already has, then Java's options for the proxy and the trust store; no host is "
                    + "excluded from the proxy"
            case .wgetSettings: "a file: the user's settings, then the proxy and the bundle of CA certificates"
            case .phpFolders:
                "the folders that PHP reads by default, then a folder with settings for `curl.cainfo` and `openssl.cafile`"
            case .aptSettings:
                "a file: the contents of the file that `APT_CONFIG` named before, then the proxy and the bundle of CA certificates"
            }
        }
    }

    let name: String
    let meaning: Meaning
    /// The programs that read the variable.
    let readers: String

    init(_ name: String, _ meaning: Meaning, _ readers: String) {
        self.name = name
        self.meaning = meaning
        self.readers = readers
    }

    static let all: [ClientVariable] = [
        // curl reads `http_proxy` only in lower case: in a CGI program, `HTTP_PROXY` can come from a request's `Proxy` field (httpoxy).
        ClientVariable("http_proxy", .proxy, "curl, git, wget, Python, Ruby, Perl, PHP's curl, uv"),
        ClientVariable("https_proxy", .proxy, "curl, git, wget, Python, Ruby, Perl, PHP's curl, uv"),
        ClientVariable("all_proxy", .proxy, "curl, httpx"),
        ClientVariable("no_proxy", .nothing, "the programs that read `http_proxy`, `https_proxy` or `all_proxy`"),
        ClientVariable("HTTP_PROXY", .proxy, "Go, Node, Python, gcloud"),
        ClientVariable("HTTPS_PROXY", .proxy, "Go, Node, Python, gcloud, cargo"),
        ClientVariable("ALL_PROXY", .proxy, "curl, uv"),
        ClientVariable("NO_PROXY", .nothing, "the programs that read `HTTP_PROXY`, `HTTPS_PROXY` or `ALL_PROXY`"),
        ClientVariable("grpc_proxy", .proxy, "gRPC"),
        ClientVariable("no_grpc_proxy", .nothing, "gRPC"),
        ClientVariable("PIP_PROXY", .proxy, "pip, which prefers this variable to the others"),
        ClientVariable("RSYNC_PROXY", .proxyAddress, "rsync, for `rsync://`"),

        ClientVariable("SSL_CERT_FILE", .bundle, "programs that use OpenSSL; Go, Ruby, Perl, httpx, aiohttp, uv"),
        ClientVariable("CURL_CA_BUNDLE", .bundle, "curl"),
        ClientVariable("GIT_SSL_CAINFO", .bundle, "git"),
        ClientVariable("REQUESTS_CA_BUNDLE", .bundle, "Python's requests"),
        ClientVariable("PIP_CERT", .bundle, "pip"),
        ClientVariable("PERL_LWP_SSL_CA_FILE", .bundle, "Perl's LWP"),
        // Without AWS_CA_BUNDLE, the AWS CLI reads REQUESTS_CA_BUNDLE instead. With AWS_CA_BUNDLE, rclone 1.60 fails with S3.
        ClientVariable(
            "AWS_CA_BUNDLE", .replacedBundle, "AWS tools, which read `REQUESTS_CA_BUNDLE` if this variable is not set"),
        ClientVariable("CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", .bundle, "gcloud"),
        ClientVariable("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", .bundle, "gRPC"),
        ClientVariable("NIX_SSL_CERT_FILE", .bundle, "Nix"),
        ClientVariable("BUNDLE_SSL_CA_CERT", .bundle, "Bundler"),

        ClientVariable(
            "NODE_USE_ENV_PROXY", .constant("1"),
            "Node 22 from 22.21 on, and Node 24 and later; Node reads the other variables only if this variable is set"),
        ClientVariable("NODE_EXTRA_CA_CERTS", .additions, "Node"),
        ClientVariable("npm_config_proxy", .proxy, "npm"),
        ClientVariable("npm_config_https_proxy", .proxy, "npm"),
        // npm treats an empty value as unset, and would use its settings file.
        ClientVariable("npm_config_noproxy", .constant(","), "npm; the value is a name that matches no host"),
        ClientVariable("npm_config_cafile", .bundle, "npm"),
        ClientVariable("NPM_CONFIG_PROXY", .proxy, "npm, which reads the name in upper and lower case"),
        ClientVariable("NPM_CONFIG_HTTPS_PROXY", .proxy, "npm"),
        ClientVariable("NPM_CONFIG_NOPROXY", .constant(","), "npm"),
        ClientVariable("NPM_CONFIG_CAFILE", .bundle, "npm"),
        ClientVariable("YARN_HTTP_PROXY", .proxy, "Yarn 2 or later"),
        ClientVariable("YARN_HTTPS_PROXY", .proxy, "Yarn 2 or later"),
        ClientVariable("DENO_CERT", .additions, "Deno"),
        ClientVariable("CARGO_HTTP_PROXY", .proxy, "cargo"),
        ClientVariable("CARGO_HTTP_CAINFO", .bundle, "cargo"),

        ClientVariable("JAVA_TOOL_OPTIONS", .javaOptions, "Java, and therefore Maven and Gradle"),
        ClientVariable("WGETRC", .wgetSettings, "wget"),
        ClientVariable("APT_CONFIG", .aptSettings, "apt"),
        ClientVariable("PHP_INI_SCAN_DIR", .phpFolders, "PHP"),
    ]
}
