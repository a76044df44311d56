// swift-format-ignore-file
// Written by scripts/page-files.py from Files/page.js.

extension PageFiles {
    static let pageJs = PageFile(
        path: "/page.js", contentType: "text/javascript; charset=utf-8",
        text: #"""
        // Chooses the view that the address names, as in #requests?text=example.

        import { make, replace } from "./dom.js";
        import { get } from "./api.js";
        import { count } from "./format.js";
        import * as requests from "./requests.js";
        import * as approvals from "./approvals.js";
        import * as store from "./store.js";
        import * as policy from "./policy.js";
        import * as trust from "./trust.js";
        import * as recordings from "./recordings.js";
        import * as settings from "./settings.js";
        import * as charts from "./charts.js";

        const VIEWS = { requests, approvals, store, policy, trust, recordings, settings, charts };
        const main = document.getElementById("content");
        let active = null;

        function place() {
          const [name, query = ""] = location.hash.slice(1).split("?");
          return { name: Object.hasOwn(VIEWS, name) ? name : "requests", parameters: new URLSearchParams(query) };
        }

        function show() {
          const { name, parameters } = place();
          document.title = `${VIEWS[name].title} · Larder`;
          for (const link of document.querySelectorAll("nav a")) {
            if (link.dataset.view === name) link.setAttribute("aria-current", "page");
            else link.removeAttribute("aria-current");
          }
          // A view handles a change of its own parameters.
          if (active?.name === name && active.view.changed) return active.view.changed(parameters);
          active?.view.close?.();
          const container = make("div");
          replace(main, container);
          active = { name, view: VIEWS[name].open(container, parameters) };
        }

        async function showSummary() {
          const text = document.getElementById("summary");
          try {
            const status = await get("/v1/status");
            text.textContent = `${status.listeners[0]}, mode ${status.mode}, ${count(status.requests.total, "request")}`;
            document.documentElement.dataset.proxy = status.listeners[0];
          } catch (refusal) {
            text.textContent = refusal.message;
          }
          showWaiting();
        }

        /** The view of approvals is left out while no rule asks. */
        async function showWaiting() {
          const link = document.querySelector("nav a[data-view=approvals]");
          try {
            const { asks, approvals: waiting } = await get("/v1/approvals");
            link.parentElement.hidden = !asks && waiting.length === 0 && place().name !== "approvals";
            link.textContent = waiting.length > 0 ? `Approvals (${waiting.length})` : "Approvals";
          } catch {
            // The summary tells that Larder does not answer.
          }
        }

        function typed(event) {
          const field = event.target.closest("input, select, textarea");
          if (event.key === "/" && !field && !event.ctrlKey && !event.metaKey && !event.altKey) {
            const filter = document.querySelector("[data-filter]");
            if (filter) {
              event.preventDefault();
              filter.focus();
            }
          }
          active?.view.typed?.(event);
        }

        for (const [name, view] of Object.entries(VIEWS)) {
          document.getElementById("views").append(make("li", { hidden: name === "approvals" }, make("a", { href: `#${name}`, "data-view": name }, view.title)));
        }
        document.getElementById("skip").addEventListener("click", (event) => {
          event.preventDefault();
          main.focus();
        });
        document.addEventListener("keydown", typed);
        addEventListener("hashchange", show);
        show();
        showSummary();
        setInterval(showSummary, 10_000);
        setInterval(showWaiting, 2_000);

        """#)
}
