// The requests of a list as an HTTP Archive (HAR 1.2). Larder remembers no fields and no bodies, so the entries have none.

const fields = { cookies: [], headers: [], headersSize: -1, bodySize: -1 };

function entry(row) {
  const time = row.duration_us / 1000;
  let queryString = [];
  try {
    queryString = [...new URL(row.url).searchParams].map(([name, value]) => ({ name, value }));
  } catch {
    // The target of a CONNECT is no URL.
  }
  return {
    startedDateTime: row.at, time, cache: {}, timings: { send: 0, wait: time, receive: 0 },
    request: { ...fields, method: row.method, url: row.url, httpVersion: "HTTP/1.1", queryString },
    response: {
      ...fields, status: row.status, statusText: "", httpVersion: "HTTP/1.1", redirectURL: "", bodySize: row.bytes,
      content: { size: row.bytes, mimeType: "x-unknown" },
    },
    comment: [row.outcome, row.reason].filter(Boolean).join(", "),
  };
}

export function archive(rows) {
  // A HAR file begins with the oldest request.
  return { log: { version: "1.2", creator: { name: "Larder", version: "" }, entries: rows.toReversed().map(entry) } };
}

/** Lets the browser save the requests as a file. */
export function saveArchive(rows) {
  const url = URL.createObjectURL(new Blob([JSON.stringify(archive(rows), null, 1)], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = "larder.har";
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
