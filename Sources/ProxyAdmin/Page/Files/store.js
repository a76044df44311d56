// Store: finds, shows, purges and verifies stored responses.

import { choice, labelled, make, replace, table, terms } from "./dom.js";
import { get, post, query } from "./api.js";
import { age, count, size } from "./format.js";

export const title = "Store";

const FIELDS = ["host", "url", "type", "status", "freshness"];
const LIMIT = 200;

export function open(container, parameters) {
  const field = (name, hint) => make("input", { name, type: "text", placeholder: hint, value: parameters.get(name) ?? "", autocomplete: "off", spellcheck: "false" });
  const host = field("host", "example.com");
  host.dataset.filter = "";
  const form = make("form", { role: "search", "aria-label": "Find stored responses", onsubmit: search },
    labelled("Host", host), labelled("URL or pattern", field("url", "http://example.com/*")), labelled("Type", field("type", "image/*")),
    labelled("Status", field("status", "200")), labelled("Freshness", choice("freshness", [["", "any"], ["fresh", "fresh"], ["stale", "stale"]], parameters.get("freshness"))),
    make("button", {}, "Find"));
  const totals = make("p", { class: "quiet" });
  const said = make("p", { role: "status" });
  const verify = make("button", { type: "button", onclick: verifyAll }, "Verify the store");
  const purge = make("button", { type: "button", onclick: purgeFound, hidden: true });
  const results = make("div");
  // The search that `results` shows: the form may have changed since.
  let searched = {};
  const details = make("div");
  replace(container, make("h2", {}, "Store"), totals, form, make("div", { class: "actions" }, purge, verify), said, details, results);
  showTotals();
  find();

  function values() { return Object.fromEntries(FIELDS.map((name) => [name, form.elements[name].value.trim()])); }

  function search(event) {
    event.preventDefault();
    history.replaceState(null, "", `#store${query(values())}`);
    find();
  }

  async function showTotals() {
    try {
      const { store, memory } = await get("/v1/status");
      totals.textContent = `${count(store.entries, "response")} on disk, ${size(store.bytes)} of ${size(store.limit)}; `
        + `${count(memory.entries, "response")} in memory, ${size(memory.bytes)} of ${size(memory.limit)}.`;
    } catch (refusal) {
      totals.textContent = refusal.message;
    }
  }

  async function find() {
    searched = values();
    purge.hidden = true;
    delete purge.dataset.sure;
    try {
      const found = await get(`/v1/cache/entries${query({ ...searched, limit: LIMIT })}`);
      const more = found.length === LIMIT ? `, the first ${LIMIT}` : "";
      replace(results, table(`Stored responses: ${found.length}${more}`,
        [["URL", ""], ["Status", "short"], ["Type", "wide"], ["Size", "number"], ["Age", "number"], ["State", "short"]],
        found.map((entry) => [
          make("button", { type: "button", class: "link", onclick: () => show(entry.row) }, entry.url), entry.status,
          entry.type, size(entry.size), age(entry.age), make("span", { class: entry.fresh ? "good" : "warn" }, entry.fresh ? "fresh" : "stale"),
        ]), "No stored response matches."));
      const isFiltered = Object.values(searched).some((value) => value !== "");
      purge.hidden = !isFiltered || found.length === 0;
      purge.textContent = "Purge all responses that match";
    } catch (refusal) {
      replace(results, make("p", { class: "note wrong", role: "alert" }, refusal.message));
    }
  }

  async function show(row) {
    try {
      const [response] = await get(`/v1/cache/response${query({ row })}`);
      const heading = make("h3", { tabindex: "-1" }, response.url);
      replace(details, make("section", { class: "details", "aria-label": "A stored response" },
        make("div", { class: "head" }, heading, make("button", { type: "button", onclick: () => replace(details) }, "Close")),
        terms([
          ["Status", response.status], ["Size", size(response.size)], ["Age", age(response.age)],
          ["Lifetime", `${age(response.lifetime)} (${response.lifetime_source})`], ["State", response.fresh ? "fresh" : "stale"],
          ["Stored", response.partial ? `in part: ${response.stored_ranges}` : "complete"], ["Tags", response.tags.join(", ")],
        ]),
        table("Fields", [["Name", "short"], ["Value", ""]], response.fields),
        // With a `*`, the URL would select other responses too.
        response.url.includes("*") ? null : make("div", { class: "actions" },
          make("button", { type: "button", onclick: () => purgeBy({ url: response.url }) }, "Purge this URL"))));
      heading.focus();
    } catch (refusal) {
      said.textContent = refusal.message;
    }
  }

  // A filter may select much, so the button asks once more.
  function purgeFound() {
    if (purge.dataset.sure) return purgeBy(searched);
    purge.dataset.sure = "yes";
    purge.textContent = "Purge them now?";
  }

  async function purgeBy(filter) {
    try {
      const answer = await post(`/v1/cache/purge${query(filter)}`);
      said.textContent = `${count(answer.count ?? 0, "stored response")} purged.`;
      replace(details);
      find();
      showTotals();
    } catch (refusal) {
      said.textContent = refusal.message;
    }
  }

  async function verifyAll() {
    said.textContent = "Larder verifies the store. This may take minutes.";
    try {
      const report = await post("/v1/cache/verify");
      const seen = `${count(report.responses, "response")}, ${size(report.bytes)}`;
      said.textContent = report.good ? `The store is good: ${seen}.` : `The store has faults: ${report.faults.join("; ")} (${seen}).`;
    } catch (refusal) {
      said.textContent = refusal.message;
    }
  }

  return { typed: (event) => { if (event.key === "Escape") replace(details); } };
}
