/// Advice for programs that read Larder's certificate from no variable.
package enum ProgramAdvice {
    /// - Parameter program: the command's first word.
    /// - Returns: `nil` for a program that needs no advice.
    package static func sentence(for program: String) -> String? {
        let name = String(program.split(separator: "/").last ?? "")
        if name == "aria2c" {
            return
                #"aria2 reads no environment variable for CA certificates: for https, use aria2c --ca-certificate="$SSL_CERT_FILE""#
        }
        guard browsers.contains(name) else { return nil }
        return
            "\(name) trusts only the certificates of its NSS database, which this run does not change: for https, use larder ca install and "
            + "larder run --join"
    }

    private static let browsers: Set = [
        "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "brave-browser", "microsoft-edge",
        "firefox",
    ]
}
