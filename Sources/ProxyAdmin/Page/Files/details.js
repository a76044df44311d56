// The details of one request: why Larder handled it so, how long it took, and what to do about it.

import { copyable, make, makeSVG, replace, terms } from "./dom.js";
import { get, post, query } from "./api.js";
import { count, duration, ruleText, shellWord, size } from "./format.js";

export async function showDetails(panel, id, close) {
  const heading = make("h2", { tabindex: "-1" }, "Request");
  const content = make("div", {}, make("p", { class: "quiet" }, "Loading."));
  replace(panel, make("div", { class: "head" }, heading, make("button", { type: "button", onclick: close }, "Close")), content);
  heading.focus();
  let request;
  try {
    request = await get(`/v1/requests/${encodeURIComponent(id)}`);
  } catch (refusal) {
    return replace(content, make("p", { class: "note wrong", role: "alert" }, refusal.message));
  }
  heading.textContent = `${request.method} ${request.url}`;
  replace(content,
    denial(request),
    terms([
      ["Status", request.status === 0 ? "no response was sent" : String(request.status)], ["Outcome", request.outcome],
      ["Reason", request.reason], ["Mode", request.mode], ["Rules", request.rules.join(", ")],
      ["Received", request.at], ["Size", size(request.bytes)], ["Id", request.id],
    ]),
    make("h3", {}, "Decisions"), steps(request.explanation.steps),
    make("h3", {}, "Time"), timing(request),
    // A part of a URL would be another request.
    ...(request.url_cut ? [make("p", { class: "note" }, "This URL is longer than the part that Larder remembers.")]
      : [make("h3", {}, "Repeat the request"), ...copyable(curl(request), "Copy as curl")]),
    request.query_omitted ? make("p", { class: "quiet" }, "Larder does not remember the query of this URL (log.access.query).") : null,
    ...purge(request));
}

function denial(request) {
  if (!request.denied) return null;
  const rule = request.reason === "denied_by_rule" ? request.rules.at(-1) : null;
  if (rule) return make("div", { class: "note wrong" }, make("p", {}, `The rule ${rule} denies this request.`));
  if (!request.suggestion) return make("div", { class: "note wrong" }, make("p", {}, `Larder denied this request: ${request.reason}.`));
  return make("div", { class: "note wrong" }, make("p", {}, "No rule allows this request. This rule would allow it:"),
    ...copyable(ruleText(request.suggestion), "Copy the rule"));
}

function steps(list) {
  return make("ul", { class: "steps" }, list.map((step) => make("li", {},
    make("strong", {}, step.step), ": ", step.says, step.section ? make("span", { class: "quiet" }, ` (${step.section})`) : null,
    step.steps?.length ? steps(step.steps) : null)));
}

function timing(request) {
  const { total_us: total, connect_us: connect, first_byte_us: first, upstream, connection_reused: reused } = request.timing;
  const parts = [];
  if (upstream) {
    const connecting = reused ? 0 : Math.min(connect, total);
    const waiting = Math.max(0, Math.min(first, total) - connecting);
    parts.push(["connect", "", connecting], ["wait for the first byte", "wait", waiting], ["the rest", "rest", Math.max(0, total - connecting - waiting)]);
  } else parts.push(["in Larder", "rest", total]);
  const text = parts.map(([name, , length]) => `${name} ${duration(length)}`).join(", ");
  let start = 0;
  const bars = parts.map(([, kind, length]) => {
    const width = total === 0 ? 0 : (length / total) * 600;
    const bar = makeSVG("rect", { class: kind, x: start, y: 0, width, height: 18 });
    start += width;
    return bar;
  });
  return make("div", {}, makeSVG("svg", { class: "timing", viewBox: "0 0 600 18", role: "img", "aria-label": `Total ${duration(total)}: ${text}` }, bars),
    make("p", {}, `${duration(total)}: ${text}`, reused && upstream ? " (on a connection that was open already)" : ""));
}

function curl(request) {
  const proxy = document.documentElement.dataset.proxy ?? "127.0.0.1:3180";
  if (request.method === "CONNECT") return `curl -v -p -x http://${proxy} ${shellWord(`https://${request.url}/`)}`;
  const method = request.method === "GET" ? "" : request.method === "HEAD" ? " -I" : ` -X ${shellWord(request.method)}`;
  return `curl -v -g${method} -x http://${proxy} ${shellWord(request.url)}`;
}

function purge(request) {
  // Without its query, or with a `*`, the URL would select other responses too.
  const url = request.key || request.url;
  if (!["GET", "HEAD"].includes(request.method) || request.query_omitted || request.url_cut || url.includes("*")) return [];
  const said = make("span", { role: "status" });
  const act = async () => {
    try {
      const answer = await post(`/v1/cache/purge${query({ url })}`);
      said.textContent = `${count(answer.count ?? 0, "stored response")} purged.`;
    } catch (refusal) {
      said.textContent = refusal.message;
    }
  };
  return [make("h3", {}, "Stored responses"), make("div", { class: "actions" },
    make("button", { type: "button", onclick: act }, "Purge this URL"), said)];
}
