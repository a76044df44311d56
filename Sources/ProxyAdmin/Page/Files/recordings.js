// Recordings: the mode, what is recorded, and what is replayed.

import { choice, labelled, make, replace, table, terms } from "./dom.js";
import { get, post, query } from "./api.js";

export const title = "Recordings";

export function open(container) {
  const content = make("div", {}, make("p", { class: "quiet" }, "Loading."));
  const said = make("p", { role: "status" });
  replace(container, make("h2", {}, "Recordings and mode"), content, said);
  show();

  async function show() {
    let state;
    try {
      state = await get("/v1/recordings");
    } catch (refusal) {
      return replace(content, make("p", { class: "note wrong", role: "alert" }, refusal.message));
    }
    const modes = choice("mode", state.modes.map((mode) => [mode, mode]), state.mode);
    const recording = state.recording;
    replace(content,
      make("form", { "aria-label": "Switch the mode", onsubmit: (event) => { event.preventDefault(); change(modes.value); } },
        labelled("Mode", modes), make("button", {}, "Switch")),
      make("h3", {}, "Recording"),
      recording ? terms([["File", recording.file], ["Recorded", recording.recorded], ["Not recorded", recording.unrecorded], ["Failure", recording.failure]])
        : make("p", { class: "quiet" }, state.record_file ? `Larder records nothing now. The modes that record write ${state.record_file}.` : "Larder records nothing: record.file names no file."),
      make("h3", {}, "Replay sources"),
      table("In the order in which Larder searches them", [["Source", ""]], state.replay_sources.map((source) => [source]), "There are none: replay.layers is empty."),
      state.comparison ? [make("h3", {}, "Comparison"), terms([["Compared", state.comparison.compared], ["Different", state.comparison.differing]]), make("div", { id: "differences" })] : null);
    if (state.comparison) showDifferences();
  }

  async function showDifferences() {
    const report = await get("/v1/mode/differences");
    replace(document.getElementById("differences"), table("Different responses", [["Request", ""], ["Kind", "short"], ["Aspects", ""]],
      report.differences.map((item) => [`${item.method} ${item.url}`, item.kind, [...item.aspects, ...item.fields].join(", ")])));
  }

  async function change(mode) {
    try {
      const answer = await post(`/v1/mode${query({ mode })}`);
      said.textContent = `The mode is ${answer.mode}.`;
    } catch (refusal) {
      said.textContent = refusal.message;
    }
    show();
  }

  return {};
}
