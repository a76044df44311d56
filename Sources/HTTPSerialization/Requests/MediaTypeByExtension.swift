/// The media type for a file extension.
public enum MediaTypeByExtension {
    private static let types: [String: String] = [
        "aac": "audio/aac", "avif": "image/avif", "bin": "application/octet-stream", "bmp": "image/bmp",
        "bz2": "application/x-bzip2",
        "css": "text/css", "csv": "text/csv", "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "epub": "application/epub+zip",
        "flac": "audio/flac", "gif": "image/gif", "gz": "application/gzip", "heic": "image/heic", "htm": "text/html",
        "html": "text/html", "ico": "image/x-icon", "ics": "text/calendar", "jar": "application/java-archive",
        "jpeg": "image/jpeg",
        "jpg": "image/jpeg", "js": "text/javascript", "json": "application/json", "m4a": "audio/mp4", "md": "text/markdown",
        "mjs": "text/javascript", "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4", "mpeg": "video/mpeg",
        "odt": "application/vnd.oasis.opendocument.text", "oga": "audio/ogg", "ogg": "audio/ogg", "otf": "font/otf",
        "pdf": "application/pdf", "plist": "application/x-plist", "png": "image/png",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation", "rtf": "application/rtf",
        "sh": "application/x-sh", "svg": "image/svg+xml", "tar": "application/x-tar", "tif": "image/tiff", "tiff": "image/tiff",
        "toml": "application/toml", "ttf": "font/ttf", "txt": "text/plain", "wasm": "application/wasm", "wav": "audio/wav",
        "weba": "audio/webm", "webm": "video/webm", "webp": "image/webp", "woff": "font/woff", "woff2": "font/woff2",
        "xhtml": "application/xhtml+xml", "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xml": "application/xml",
        "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip", "zst": "application/zstd",
    ]

    /// - Returns: `application/octet-stream` for an unknown extension, and for a name without one.
    public static func type(ofPath path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        guard let point = name.lastIndex(of: ".") else { return "application/octet-stream" }
        return types[name[name.index(after: point)...].lowercased()] ?? "application/octet-stream"
    }
}
