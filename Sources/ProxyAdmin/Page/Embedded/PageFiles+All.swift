// swift-format-ignore-file
// Written by scripts/page-files.py.

extension PageFiles {
    static let all: [PageFile] = [
        apiJs, approvalsJs, chartsJs, detailsJs, domJs, formatJs, harJs, indexHtml, pageCss, pageJs, policyJs, recordingsJs, requestsJs, settingsJs, storeJs, trustJs,
    ]
}
