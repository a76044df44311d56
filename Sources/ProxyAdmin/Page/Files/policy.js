// Policy: the rules with their counts, and the denials with the rules that would allow them.

import { copyable, make, replace, table } from "./dom.js";
import { get, query } from "./api.js";
import { count, ruleText } from "./format.js";

export const title = "Policy";

export function open(container) {
  const content = make("div", {}, make("p", { class: "quiet" }, "Loading."));
  replace(container, make("h2", {}, "Policy"), content);
  show();

  async function show() {
    let policy;
    try {
      policy = await get("/v1/policy");
    } catch (refusal) {
      return replace(content, make("p", { class: "note wrong", role: "alert" }, refusal.message));
    }
    const unlisted = policy.default === "deny" ? "denied" : "allowed";
    const report = policy.report;
    replace(content,
      make("p", {}, `Requests that no rule allows are ${unlisted}${policy.enforce === "report" ? ", but report mode forwards them" : ""}. `
        + `The counts are of the ${count(policy.requests, "request")} that Larder remembers.`),
      make("h3", {}, "Denials"),
      policy.denials.length === 0 ? make("p", { class: "quiet" }, "No remembered request was denied.") : policy.denials.map(denial),
      make("h3", {}, "Rules"),
      table("Rules in the order in which Larder compares them", [["Rule", ""], ["Requests that match", "number"]],
        policy.rules.map((rule) => [rule.name, rule.hits.toLocaleString("en")]), "There are no rules."),
      policy.enforce === "report" ? [make("h3", {}, "Requests that would be denied"), table("Since the settings were read",
        [["Request", ""], ["Count", "number"], ["Reason", "short"], ["A rule that allows it", ""]],
        report.denials.map((item) => [`${item.method} ${item.url}`, item.count, item.rule ?? item.code,
          item.suggestion ? make("pre", {}, ruleText(item.suggestion)) : ""]))] : null,
      report.shadow ? [make("h3", {}, "The shadow policy"), table("Requests with another verdict",
        [["Request", ""], ["Count", "number"], ["Active", "short"], ["Shadow", "short"]],
        report.differences.map((item) => [`${item.method} ${item.url}`, item.count, item.active, item.shadow]))] : null);
  }

  function denial(item) {
    const why = item.rule ? `the rule ${item.rule}` : item.code === "egress_denied" ? "no rule allows it" : item.code;
    return make("section", { class: "note wrong", "aria-label": `Denials of ${item.host}` },
      make("p", {}, make("strong", {}, item.host || "(no host)"), `: ${count(item.count, "request")} denied, ${why}. `,
        make("a", { href: `#requests${query({ only: "denied", host: item.host })}` }, "Show them")),
      make("p", { class: "quiet" }, `Latest: ${item.latest.method} ${item.latest.url}`),
      item.suggestion ? [make("p", {}, "This rule would allow the latest one:"), copyable(ruleText(item.suggestion), "Copy the rule")] : null);
  }

  return {};
}
