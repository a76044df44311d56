// swift-format-ignore-file
// Written by scripts/page-files.py from Files/format.js.

extension PageFiles {
    static let formatJs = PageFile(
        path: "/format.js", contentType: "text/javascript; charset=utf-8",
        text: #"""
        // Numbers and times for people.

        export function size(count) {
          if (count < 1024) return `${count} B`;
          let value = count;
          for (const unit of ["KiB", "MiB", "GiB", "TiB"]) {
            value /= 1024;
            if (value < 1024 || unit === "TiB") return `${value.toFixed(1)} ${unit}`;
          }
        }

        export function duration(microseconds) {
          // Larder reads its clock once for all that it handles together, so a hit often takes no measured time.
          if (microseconds === 0) return "< 1 ms";
          if (microseconds < 1000) return `${microseconds} µs`;
          if (microseconds < 1e6) return `${(microseconds / 1000).toFixed(microseconds < 1e4 ? 1 : 0)} ms`;
          return `${(microseconds / 1e6).toFixed(1)} s`;
        }

        export function age(seconds) {
          for (const [length, unit] of [[86400, "d"], [3600, "h"], [60, "min"]]) {
            if (seconds >= length) return `${Math.floor(seconds / length)} ${unit}`;
          }
          return `${seconds} s`;
        }

        export function time(text) {
          const date = new Date(text);
          return date.toLocaleTimeString("en-GB");
        }

        export function count(number, one, several = `${one}s`) { return `${number.toLocaleString("en")} ${number === 1 ? one : several}`; }

        /** A suggested rule as YAML, with a name, which every rule needs. */
        export function ruleText(suggestion) {
          const rule = JSON.parse(suggestion);
          const name = ["allow", rule.match.method, rule.match.host, rule.match.path].filter(Boolean).join(" ").replace(/[^ -~]|["\\]/g, "_");
          return `rules:\n  - ${JSON.stringify({ name: name.slice(0, 64), ...rule })}`;
        }

        /** A word in single quotes for a shell. */
        export function shellWord(text) { return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`; }

        """#)
}
