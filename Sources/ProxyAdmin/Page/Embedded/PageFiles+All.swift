// swift-format-ignore-file
// Written by scripts/page-files.py.

extension PageFiles {
    static let all: [PageFile] = [
        apiJs, chartsJs, detailsJs, domJs, formatJs, indexHtml, pageCss, pageJs, policyJs, recordingsJs, requestsJs, settingsJs, storeJs, trustJs,
    ]
}
