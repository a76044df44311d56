// swift-format-ignore-file
// Written by scripts/page-files.py from Files/settings.js.

extension PageFiles {
    static let settingsJs = PageFile(
        path: "/settings.js", contentType: "text/javascript; charset=utf-8",
        text: #"""
        // Settings: the active settings, each with its source.

        import { labelled, make, replace, table } from "./dom.js";
        import { get, post } from "./api.js";

        export const title = "Settings";

        export function open(container) {
          let all = [];
          const filter = make("input", { type: "search", "data-filter": "", autocomplete: "off", spellcheck: "false" });
          const onlySet = make("input", { type: "checkbox" });
          const said = make("p", { role: "status" });
          const list = make("div", {}, make("p", { class: "quiet" }, "Loading."));
          replace(container, make("h2", {}, "Settings"),
            make("form", { role: "search", "aria-label": "Filter settings", oninput: draw, onsubmit: (event) => event.preventDefault() },
              labelled("Name or value contains", filter), make("label", { class: "line" }, onlySet, "Only settings that have a source"),
              make("button", { type: "button", onclick: reload }, "Reload the settings")), said, list);
          load();

          async function load() {
            try {
              all = (await get("/v1/settings")).settings;
              draw();
            } catch (refusal) {
              replace(list, make("p", { class: "note wrong", role: "alert" }, refusal.message));
            }
          }

          function draw() {
            const text = filter.value.trim().toLowerCase();
            const shown = all.filter((setting) => (!onlySet.checked || setting.source !== null)
              && `${setting.name} ${setting.value}`.toLowerCase().includes(text));
            replace(list, table(`Settings: ${shown.length} of ${all.length}`, [["Name", "name"], ["Value", ""], ["Source", ""], ["Meaning", "wide"]],
              shown.map((setting) => [make("code", {}, setting.name), value(setting), setting.source ?? "default", prose(setting.about)]),
              "No setting matches."));
          }

          /** Some settings take effect only at the next start: then the settings' files have another value. */
          function value(setting) {
            if (setting.next === undefined) return make("code", {}, setting.value);
            return [make("code", {}, setting.value), make("p", { class: "quiet" }, "At the next start: ", make("code", {}, setting.next))];
          }

          /** The sentence of the documentation, without its marks for links. */
          function prose(text) {
            const parts = text.replace(/ ?See \[[^\]]*\]\([^)]*\)\.?/g, "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").split("`");
            return parts.map((part, index) => (index % 2 === 1 ? make("code", {}, part) : part));
          }

          async function reload() {
            try {
              const answer = await post("/v1/reload");
              said.textContent = ["The settings were reloaded.", ...answer.changes, ...answer.waiting.map((name) => `${name} takes effect at the next start.`)].join(" ");
              load();
            } catch (refusal) {
              said.textContent = `The settings were not reloaded. ${refusal.message}`;
            }
          }

          return {};
        }

        """#)
}
