// swift-format-ignore-file
// Written by scripts/page-files.py from Files/index.html.

extension PageFiles {
    static let indexHtml = PageFile(
        path: "/", contentType: "text/html; charset=utf-8",
        text: #"""
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Larder</title>
        <link rel="icon" href="data:,">
        <link rel="stylesheet" href="/page.css">
        <script type="module" src="/page.js"></script>
        </head>
        <body>
        <a class="skip" id="skip" href="#content">Skip to the content</a>
        <header>
          <h1>Larder</h1>
          <nav aria-label="Views"><ul id="views"></ul></nav>
          <p id="summary"></p>
        </header>
        <main id="content" tabindex="-1"></main>
        <p id="announcer" class="unseen" role="status" aria-live="polite"></p>
        <footer><p>Keys: <kbd>/</kbd> filter, <kbd>↑</kbd> <kbd>↓</kbd> list, <kbd>Enter</kbd> details, <kbd>Esc</kbd> close</p></footer>
        <noscript><p>This page needs JavaScript.</p></noscript>
        </body>
        </html>

        """#)
}
