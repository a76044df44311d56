// Requests to Larder.

/** A response with an error: its sentence is for people. */
export class Refusal extends Error {
  constructor(status, code, detail) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

/** A response has one JSON value, or one on each line as it makes progress: then the last one counts. */
function parse(text) {
  for (const part of [text, text.trim().split("\n").at(-1)]) {
    try {
      return JSON.parse(part);
    } catch {
      continue;
    }
  }
  return {};
}

async function ask(method, path) {
  const headers = { Accept: "application/json" };
  if (method !== "GET") headers["X-Larder"] = "1";
  let response;
  try {
    response = await fetch(path, { method, headers, cache: "no-store" });
  } catch {
    throw new Refusal(0, "unreachable", "Larder does not answer. It may have stopped, or closed this page's port: run larder ui again.");
  }
  const body = parse(await response.text());
  if (!response.ok) {
    throw new Refusal(response.status, body.code ?? "", body.detail ?? body.error ?? (body.problems ?? []).join("; ") ?? "");
  }
  return body;
}

export const get = (path) => ask("GET", path);
export const post = (path) => ask("POST", path);

/** A query without its empty parts, with its "?". */
export function query(values) {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== "" && value !== null && value !== undefined) parts.set(name, value);
  const text = parts.toString();
  return text === "" ? "" : `?${text}`;
}
