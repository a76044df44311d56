// Makes elements. Texts become text nodes, never markup, so that no text of a request can run as a script.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/** An element with these attributes, listeners ("onclick") and children. */
export function make(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

export function makeSVG(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

export function replace(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

/** A table. A column has a title, and the class of its cells. A row is a list of cells: texts or elements. */
export function table(caption, columns, rows, empty = "Nothing to show.") {
  if (rows.length === 0) return make("p", { class: "quiet" }, empty);
  return make("div", { class: "table" },
    make("table", {}, make("caption", {}, caption),
      make("thead", {}, make("tr", {}, columns.map(([title, kind]) => make("th", { scope: "col", class: kind }, title)))),
      make("tbody", {}, rows.map((cells) =>
        make("tr", {}, cells.map((cell, index) => make("td", { class: columns[index][1] }, cell)))))));
}

/** A list of terms and values. Values that are null are left out. */
export function terms(pairs) {
  return make("dl", {}, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([term, value]) => [make("dt", {}, term), make("dd", {}, value)]));
}

export function labelled(text, control) { return make("label", {}, text, control); }

export function choice(name, options, value) {
  const select = make("select", { name }, options.map(([key, text]) => make("option", { value: key }, text)));
  select.value = value ?? "";
  return select;
}

/** Text with a button that copies it. */
export function copyable(text, label) {
  const said = make("span", { role: "status" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = "Copied.";
    } catch {
      said.textContent = "The browser does not allow copying: select the text.";
    }
  };
  return [make("pre", {}, text), make("div", { class: "actions" }, make("button", { type: "button", onclick: copy }, label), said)];
}

/** Says something to a screen reader. */
export function announce(text) { document.getElementById("announcer").textContent = text; }
