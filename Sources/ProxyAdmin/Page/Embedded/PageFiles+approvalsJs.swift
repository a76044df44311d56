// swift-format-ignore-file
// Written by scripts/page-files.py from Files/approvals.js.

extension PageFiles {
    static let approvalsJs = PageFile(
        path: "/approvals.js", contentType: "text/javascript; charset=utf-8",
        text: #"""
        // Approvals: the requests that wait for an approver, and the answers to them.

        import { announce, choice, labelled, make, replace } from "./dom.js";
        import { get, post, query } from "./api.js";
        import { count, time } from "./format.js";

        export const title = "Approvals";

        const PERIOD = 1000;

        export function open(container) {
          const said = make("p", { role: "status" });
          const list = make("div", {}, make("p", { class: "quiet" }, "Loading."));
          let known = null;
          let timer = null;
          let isClosed = false;
          replace(container, make("h2", {}, "Approvals"),
            make("p", {}, "These requests wait, because a rule asks an approver about them."), said, list);
          load();

          async function load() {
            clearTimeout(timer);
            try {
              const answer = await get("/v1/approvals");
              const ids = answer.approvals.map((held) => held.id).join(" ");
              // Unchanged questions stay, so that a choice or the focus is not lost.
              if (ids !== known) draw(answer);
              known = ids;
            } catch (refusal) {
              known = null;
              replace(list, make("p", { class: "note wrong", role: "alert" }, refusal.message));
            }
            if (!isClosed) timer = setTimeout(load, PERIOD);
          }

          function draw(answer) {
            if (answer.approvals.length === 0) return replace(list, make("p", { class: "quiet" }, "No request waits."));
            if (known !== null) announce(`${count(answer.approvals.length, "request")} waiting.`);
            replace(list, answer.approvals.map((held) => question(held, answer.file !== null)));
          }

          function question(held, hasFile) {
            const lifetimes = [["once", "this request"], ["run", "until Larder stops"], ...(hasFile ? [["always", "permanently, as a rule"]] : [])];
            const scopes = [...(held.request ? [["request", "equal requests"]] : []), ...(held.host ? [["host", "all requests to the host"]] : [])];
            const lifetime = choice("for", scopes.length > 0 ? lifetimes : [lifetimes[0]], "once");
            const scope = choice("scope", scopes, scopes[0]?.[0]);
            const buttons = [["allow", "Allow"], ["deny", "Deny"]].map(([word, text]) =>
              make("button", { type: "button", onclick: () => answer(held, word, lifetime.value, scope.value) }, text));
            const client = held.user ? `${held.user} at ${held.client}` : held.client;
            return make("section", { class: "note", "aria-label": `Question about ${held.url}`, "data-id": held.id },
              make("p", {}, make("strong", {}, `${held.method} ${held.url}`)),
              make("p", { class: "quiet" }, `From ${client}, by the rule ${held.rule}. Without an answer, it is ${held.otherwise === "allow" ? "allowed" : "denied"} at ${time(held.until)}.`),
              make("div", { class: "actions" }, labelled("For", lifetime), scopes.length > 1 ? labelled("Applies to", scope) : null, buttons));
          }

          async function answer(held, word, lifetime, scope) {
            try {
              await post(`/v1/approvals${query({ id: held.id, answer: word, for: lifetime, scope: scope || null })}`);
              said.textContent = `${word === "allow" ? "Allowed" : "Denied"}: ${held.method} ${held.url}`;
            } catch (refusal) {
              said.textContent = refusal.message;
            }
            load();
          }

          return { close: () => {
            isClosed = true;
            clearTimeout(timer);
          } };
        }

        """#)
}
