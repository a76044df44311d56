// Requests: the list of finished requests, newest first, and the details of one of them.

import { announce, choice, labelled, make, replace } from "./dom.js";
import { get, query } from "./api.js";
import { count, duration, size, time } from "./format.js";
import { showDetails } from "./details.js";
import { saveArchive } from "./har.js";

export const title = "Requests";

const FILTERS = ["text", "host", "method", "status", "outcome", "only", "mode"];
const PAGE = 100;
// A browser becomes slow with more rows.
const ROW_LIMIT = 1000;
const any = ["", "any"];
const same = (words) => [any, ...words.map((word) => [word, word])];
const CHOICES = {
  method: same(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT"]),
  status: same(["2xx", "3xx", "4xx", "5xx", "304", "403", "404", "502", "504"]),
  outcome: same(["hit", "stale_hit", "revalidated", "miss", "refreshed", "collapsed", "bypass", "denied", "failed", "tunnel", "local", "replayed", "recorded", "background"]),
  only: [["", "all"], ["denied", "denied"], ["error", "errors"]],
  mode: same(["live", "offline", "replay", "record", "record_missing", "refresh", "diff"]),
};

export function open(container, parameters) {
  let filters = read(parameters);
  let chosen = parameters.get("id");
  let rows = [];
  let events = null;
  let isPaused = false;
  let missed = 0;
  // The requests that finished too fast to be listed, since the list was loaded.
  let leftOut = 0;
  let latestList = 0;
  let waiting = null;

  const form = make("form", { role: "search", "aria-label": "Filter requests", onsubmit: (event) => event.preventDefault(), oninput: filtered });
  const state = make("p", { class: "quiet", role: "status" });
  const pause = make("button", { type: "button", "aria-pressed": "false", onclick: togglePause }, "Pause");
  const body = make("tbody", { onclick: clicked });
  const older = make("button", { type: "button", onclick: loadOlder, hidden: true }, "Show older requests");
  const empty = make("p", { class: "quiet", hidden: true }, "No request matches. Requests that finish later appear here.");
  const columns = [["Time", "short wide"], ["Method", "short"], ["Status", "short"], ["Outcome", "short"], ["URL", ""], ["Duration", "number wide"], ["Size", "number wide"]];
  const list = make("section", { "aria-label": "List of requests" },
    make("div", { class: "actions" }, pause, make("button", { type: "button", onclick: () => saveArchive(rows) }, "Save as HAR"), state),
    make("div", { class: "table" }, make("table", {},
      make("caption", { class: "unseen" }, "Finished requests, newest first"),
      make("thead", {}, make("tr", {}, columns.map(([text, kind]) => make("th", { scope: "col", class: kind }, text)))), body)),
    empty, older);
  const split = make("div", { class: "split" }, list);
  replace(container, make("h2", { class: "unseen" }, "Requests"), form, split);
  fillForm();
  document.addEventListener("visibilitychange", connect);
  connect();
  if (chosen) openDetails();

  // The filter

  function read(from) { return Object.fromEntries(FILTERS.map((name) => [name, from.get(name) ?? ""])); }

  function fillForm() {
    const field = (name, kind) => make("input", { name, type: kind, value: filters[name], autocomplete: "off", spellcheck: "false" });
    const text = field("text", "search");
    text.dataset.filter = "";
    replace(form, labelled("URL contains", text), labelled("Host", field("host", "text")),
      ...Object.entries({ only: "Show", method: "Method", status: "Status", outcome: "Outcome", mode: "Mode" })
        .map(([name, label]) => labelled(label, choice(name, CHOICES[name], filters[name]))));
  }

  function filtered() {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      filters = Object.fromEntries(FILTERS.map((name) => [name, form.elements[name].value.trim()]));
      history.replaceState(null, "", address(chosen));
      connect();
    }, 200);
  }

  function address(id) { return `#requests${query({ ...filters, id })}`; }

  // The list

  async function load() {
    const number = ++latestList;
    try {
      const answer = await get(`/v1/requests${query({ ...filters, limit: PAGE })}`);
      if (number !== latestList) return;
      rows = answer.requests;
      leftOut = 0;
      body.replaceChildren(...rows.map((row) => rowElement(row, false)));
      settle(answer);
    } catch (refusal) {
      say(refusal.message);
    }
  }

  async function loadOlder() {
    const last = rows.at(-1);
    if (!last) return;
    try {
      const answer = await get(`/v1/requests${query({ ...filters, limit: PAGE, before: last.id })}`);
      const known = new Set(rows.map((row) => row.id));
      const more = answer.requests.filter((row) => !known.has(row.id));
      rows.push(...more);
      body.append(...more.map((row) => rowElement(row, false)));
      settle(answer);
      announce(`${count(more.length, "older request")} shown.`);
    } catch (refusal) {
      say(refusal.message);
    }
  }

  function settle(answer) {
    older.hidden = !answer.more || rows.length >= ROW_LIMIT;
    empty.hidden = rows.length > 0;
    rove();
    older.dataset.kept = [
      answer.more ? ` Larder remembers ${count(answer.kept, "request")}.` : "",
      answer.dropped > 0 ? ` Larder has dropped ${count(answer.dropped, "older request")}.` : "",
    ].join("");
    sayCount();
  }

  function sayCount() { say(`${count(rows.length, "request")} shown. New ones appear at the top.${older.dataset.kept ?? ""}${leftOutText()}`); }

  function leftOutText() {
    return leftOut === 0 ? "" : ` ${count(leftOut, "request")} finished too fast to be listed: reload the page to list them.`;
  }

  function say(text) { state.textContent = text; }

  function rowElement(row, isNew) {
    const status = row.status === 0 ? "none" : String(row.status);
    const link = make("a", { href: address(row.id), tabindex: "-1" }, row.url || "(no URL)");
    const element = make("tr", { "data-id": row.id, class: [row.id === chosen && "chosen", isNew && "new"].filter(Boolean).join(" ") },
      make("td", { class: "short wide" }, time(row.at)), make("td", { class: "short" }, row.method),
      make("td", { class: row.status >= 400 || row.status === 0 ? "short bad" : "short" }, status),
      make("td", { class: outcomeClass(row) }, row.outcome), make("td", {}, link),
      make("td", { class: "number wide" }, duration(row.duration_us)), make("td", { class: "number wide" }, size(row.bytes)));
    if (row.id === chosen) link.setAttribute("aria-current", "true");
    return element;
  }

  function outcomeClass(row) {
    if (row.denied || row.outcome === "failed") return "short bad";
    return ["hit", "revalidated", "collapsed", "replayed"].includes(row.outcome) ? "short good" : "short";
  }

  function clicked(event) {
    const row = event.target.closest("tr");
    if (!row || event.target.closest("a") || getSelection().toString() !== "") return;
    location.hash = address(row.dataset.id);
  }

  // One link of the list is in the order of the tab key. The arrow keys move between the links.
  function rove(target = null) {
    const links = [...body.querySelectorAll("a")];
    const first = target ?? links.find((link) => link.tabIndex === 0) ?? links[0];
    for (const link of links) link.tabIndex = link === first ? 0 : -1;
  }

  function typed(event) {
    if (event.key === "Escape") {
      if (chosen) location.hash = address(null);
      else if (event.target === form.elements.text) form.elements.text.blur();
      return;
    }
    const isList = event.target.closest("tbody") === body;
    const isFree = event.target === document.body || event.target.id === "content" || isList;
    const isFilter = event.target === form.elements.text && event.key === "ArrowDown";
    if (!isFree && !isFilter) return;
    const links = [...body.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    const step = { ArrowDown: at + 1, ArrowUp: Math.max(0, at - 1), Home: 0, End: links.length - 1 }[event.key];
    if (step === undefined || links.length === 0 || ((event.key === "Home" || event.key === "End") && !isList)) return;
    event.preventDefault();
    const link = links[Math.min(step, links.length - 1)];
    rove(link);
    link.focus();
  }

  // Events

  function connect() {
    events?.close();
    // A browser has few connections to one server, and each stream takes one. A page that nobody sees needs none.
    if (document.hidden) return;
    events = new EventSource(`/v1/events${query(filters)}`);
    // Requests that finished before the stream began are in the list, which is loaded after that.
    events.addEventListener("hello", load);
    events.addEventListener("requests", (event) => arrived(JSON.parse(event.data)));
    events.addEventListener("error", () => {
      if (events.readyState === EventSource.CLOSED) {
        // The list has the reason, if Larder answers.
        load().then(() => say(`${state.textContent} New requests do not appear: reload the page, or run larder ui again.`));
      } else say("The connection to Larder is interrupted. The page connects again by itself.");
    });
  }

  function arrived(news) {
    if (isPaused) {
      missed += news.requests.length + news.skipped;
      return say(`Paused. ${count(missed, "new request")}.`);
    }
    const known = new Set(rows.map((row) => row.id));
    const fresh = news.requests.filter((row) => !known.has(row.id)).reverse();
    rows = [...fresh, ...rows].slice(0, ROW_LIMIT);
    body.prepend(...fresh.map((row) => rowElement(row, true)));
    while (body.children.length > ROW_LIMIT) body.lastElementChild.remove();
    empty.hidden = rows.length > 0;
    rove();
    leftOut += news.skipped;
    sayCount();
    if (fresh.length > 0) announce(`${count(fresh.length, "new request")}.`);
  }

  function togglePause() {
    isPaused = !isPaused;
    pause.setAttribute("aria-pressed", String(isPaused));
    pause.textContent = isPaused ? "Continue" : "Pause";
    if (isPaused) return say("Paused.");
    missed = 0;
    load();
  }

  // Details

  function openDetails() {
    const panel = make("section", { class: "details", "aria-label": "Details of a request" });
    split.querySelector(".details")?.remove();
    split.append(panel);
    split.classList.add("open");
    showDetails(panel, chosen, () => { location.hash = address(null); });
  }

  function changed(next) {
    const former = chosen;
    chosen = next.get("id");
    const isFiltered = FILTERS.some((name) => (next.get(name) ?? "") !== filters[name]);
    if (isFiltered) {
      filters = read(next);
      fillForm();
      connect();
    }
    for (const row of body.children) {
      const isChosen = row.dataset.id === chosen;
      row.classList.toggle("chosen", isChosen);
      const link = row.querySelector("a");
      if (isChosen) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
      if (isChosen) rove(link);
    }
    if (chosen) return openDetails();
    split.querySelector(".details")?.remove();
    split.classList.remove("open");
    if (former) body.querySelector(`tr[data-id="${CSS.escape(former)}"] a`)?.focus();
  }

  return { changed, typed, close: () => {
    document.removeEventListener("visibilitychange", connect);
    clearTimeout(waiting);
    events?.close();
  } };
}
