// swift-format-ignore-file
// Written by scripts/page-files.py from Files/page.css.

extension PageFiles {
    static let pageCss = PageFile(
        path: "/page.css", contentType: "text/css; charset=utf-8",
        text: #"""
        :root {
          color-scheme: light dark;
          --back: #ffffff; --raised: #f4f6f8; --line: #c9d1d9; --text: #1b1f24; --quiet: #515a64; --accent: #0a4fa3;
          --bad: #a8201a; --good: #0b6a3a; --warn: #7a4b00; --chosen: #dceafa;
          font: 15px/1.45 system-ui, sans-serif;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --back: #14171c; --raised: #1e232a; --line: #3b434e; --text: #e6e9ee; --quiet: #a9b2be; --accent: #86bdff;
            --bad: #ffa29a; --good: #7fdca4; --warn: #f2c46d; --chosen: #24384f;
          }
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--back); color: var(--text); overflow-wrap: anywhere; }
        header, main, footer { padding: 0 1rem; }
        header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1.25rem; border-bottom: 1px solid var(--line); }
        h1 { font-size: 1.15rem; margin: .6rem 0; }
        h2 { font-size: 1.1rem; margin: 1rem 0 .5rem; }
        h3 { font-size: 1rem; margin: 1rem 0 .35rem; }
        nav ul { display: flex; flex-wrap: wrap; gap: .1rem .25rem; list-style: none; margin: 0; padding: 0; }
        nav a { display: inline-block; padding: .45rem .6rem; border-bottom: 3px solid transparent; text-decoration: none; }
        nav a[aria-current] { border-bottom-color: var(--accent); font-weight: 600; }
        a { color: var(--accent); }
        #summary, footer, .quiet { color: var(--quiet); }
        #summary { margin: 0 0 0 auto; }
        footer { border-top: 1px solid var(--line); margin-top: 2rem; }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 1px; }
        main:focus { outline: none; }
        .skip { position: absolute; left: -999px; }
        .skip:focus { left: .5rem; top: .5rem; background: var(--back); padding: .5rem; z-index: 1; }
        .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
        form { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: end; margin: .75rem 0; }
        label { display: grid; gap: .1rem; font-size: .85rem; color: var(--quiet); }
        label.line { display: flex; align-items: center; gap: .4rem; }
        input, select, button {
          font: inherit; color: var(--text); background: var(--back); border: 1px solid var(--quiet); border-radius: 4px;
          padding: .3rem .5rem; min-height: 2.1rem; max-width: 100%;
        }
        input[type=checkbox] { min-height: 1.2rem; width: 1.2rem; }
        input[type=search] { min-width: min(20rem, 100%); }
        button { background: var(--raised); cursor: pointer; }
        button:hover { border-color: var(--accent); }
        button.link { border: 0; padding: 0; min-height: 0; background: none; color: var(--accent); text-align: left; }
        button.link:hover { text-decoration: underline; }
        .table { overflow-x: auto; }
        table { border-collapse: collapse; width: 100%; }
        caption { text-align: left; color: var(--quiet); padding: .25rem 0; }
        th, td { text-align: left; vertical-align: top; padding: .28rem .55rem; border-bottom: 1px solid var(--line); }
        th { font-weight: 600; white-space: nowrap; }
        td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
        td.short { white-space: nowrap; }
        tr.chosen { background: var(--chosen); }
        tbody tr:hover { background: var(--raised); }
        tbody tr.chosen:hover { background: var(--chosen); }
        td a { text-decoration: none; }
        td a:hover, td a:focus { text-decoration: underline; }
        .bad { color: var(--bad); font-weight: 600; }
        .good { color: var(--good); }
        .warn { color: var(--warn); font-weight: 600; }
        .split { display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); }
        .details { border: 1px solid var(--line); border-radius: 6px; padding: 0 1rem 1rem; background: var(--raised); align-self: start; }
        .details .head { display: flex; gap: 1rem; justify-content: space-between; align-items: start; }
        .details .head button { margin-top: .75rem; flex: none; }
        dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem 1rem; margin: .5rem 0; }
        dt { color: var(--quiet); }
        dd { margin: 0; }
        ul.steps { margin: 0; padding-left: 1.1rem; }
        ul.steps ul { padding-left: 1.1rem; }
        ul.steps > li { margin: .2rem 0; }
        pre, code { font: .9rem/1.4 ui-monospace, monospace; }
        pre { background: var(--back); border: 1px solid var(--line); border-radius: 4px; padding: .5rem; margin: .35rem 0; white-space: pre-wrap; }
        .note { border-left: 4px solid var(--accent); padding: .35rem .75rem; background: var(--raised); margin: .75rem 0; }
        .note.wrong { border-left-color: var(--bad); }
        .actions { display: flex; flex-wrap: wrap; gap: .5rem; margin: .6rem 0; align-items: center; }
        svg { display: block; width: 100%; height: auto; }
        svg text { fill: var(--quiet); font-size: 11px; }
        .timing rect { fill: var(--accent); }
        .timing rect.wait { fill: var(--warn); }
        .timing rect.rest { fill: var(--good); }
        .chart .axis { stroke: var(--line); }
        .chart .one { stroke: var(--accent); fill: none; stroke-width: 2; }
        .chart .two { stroke: var(--warn); fill: none; stroke-width: 2; stroke-dasharray: 5 3; }
        .charts { display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); }
        figure { margin: 0; border: 1px solid var(--line); border-radius: 6px; padding: .5rem .75rem; }
        figcaption { font-weight: 600; }
        @media (min-width: 641px) { td.name { white-space: nowrap; } }
        @media (min-width: 1050px) {
          .split.open { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); }
          .charts { grid-template-columns: repeat(2, minmax(0, 1fr)); }
        }
        @media (max-width: 1049px) { .split.open > .details { order: -1; } }
        @media (max-width: 640px) {
          header, main, footer { padding: 0 .6rem; }
          .wide { display: none; }
          th, td { padding: .28rem .3rem; }
        }
        @media (prefers-reduced-motion: no-preference) { tr.new { animation: arrive 1.2s; } }
        @keyframes arrive { from { background: var(--chosen); } }

        """#)
}
