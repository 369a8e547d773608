"use strict";
// The page works without this script. With it, figures change while the page is open, keys move
// around, and texts can be copied. Everything is in one function, so it has no global names.
(() => {
const $ = (selector, within = document) => within.querySelector(selector);
const prefix = document.body.dataset.prefix || "";

// ---- Changes: each element with an id that the stream sends replaces its namesake.

const held = new Set(); // ids of elements with changes that wait
const newest = new Map(); // by id: the newest element that the stream has sent
let changes = 0; // how many changes the current merge has held back
let pointer = null; // where the mouse is; null: outside, or it is a finger

// holds reports whether rows must stay where they are: the mouse is over a list, or somebody types.
function holds() {
  const typing = document.activeElement?.closest("#main :is(input, select, textarea)");
  return typing || pointer && document.elementFromPoint(...pointer)?.closest(".list, svg, form, dialog, details");
}

function take(html) {
  for (const element of new DOMParser().parseFromString(html, "text/html").body.children) {
    fill(element, newest.get(element.id));
    newest.set(element.id, element);
    held.add(element.id);
  }
  apply();
}

// fill takes over the rows that are as they were before: the stream sends only their keys.
function fill(element, before) {
  const same = element.querySelectorAll("tr[data-same]");
  if (same.length === 0) return;
  const rows = new Map();
  for (const row of before.querySelectorAll("tr[data-key]")) rows.set(row.dataset.key, row);
  for (const row of same) row.replaceWith(rows.get(row.dataset.key));
}

// apply shows what has changed, or as much as may be shown now.
function apply() {
  if (held.size === 0) return;
  const hold = Boolean(holds());
  const focused = document.activeElement;
  let waiting = 0;
  for (const id of [...held]) {
    const old = document.getElementById(id);
    changes = 0;
    if (old) merge(old, newest.get(id).cloneNode(true), hold);
    if (changes === 0) held.delete(id);
    waiting += changes;
  }
  if (focused !== document.activeElement && focused?.isConnected) focused.focus({preventScroll: true});
  show("waiting", waiting ? `${waiting} ${waiting === 1 ? "change waits" : "changes wait"}` : "");
}

const keyOf = (node) => node.nodeType === Node.ELEMENT_NODE && (node.dataset.key ?? node.id) || null;
const alike = (a, b) => a.nodeName === b.nodeName && keyOf(a) === keyOf(b);
const isControl = (node) => node.matches("input:not([type=hidden]), select, textarea");

// merge makes an element like another one, and keeps what people did to it.
function merge(old, now, hold) {
  if (old.isEqualNode(now)) return;
  if (isControl(old) && (old === document.activeElement || touched(old))) return;
  if (hold && old.matches("form, button, svg")) {
    changes++; // a button must not turn into another one under the pointer; bars would move
    return;
  }
  for (const {name} of [...old.attributes]) {
    if (!now.hasAttribute(name) && name !== "open" && name !== "tabindex") old.removeAttribute(name);
  }
  for (const {name, value} of now.attributes) {
    if (old.getAttribute(name) !== value && !(name === "open" && old.localName === "details")) old.setAttribute(name, value);
  }
  // Inside a cell all may change at once, unless something there can be pressed.
  if (old.matches("td, th") && !$("form, button, input, svg", old)) hold = false;
  (hold ? mergeInPlace : mergeChildren)(old, now);
}

function touched(control) {
  if (control.localName === "select") return [...control.options].some((o) => o.selected !== o.defaultSelected);
  return control.value !== control.defaultValue || Boolean(control.checked) !== Boolean(control.defaultChecked);
}

function mergeNode(old, now, hold) {
  if (old.nodeType === Node.ELEMENT_NODE) merge(old, now, hold);
  else if (old.nodeValue !== now.nodeValue) old.nodeValue = now.nodeValue;
}

function keyed(parent) {
  const nodes = new Map();
  for (const node of parent.children) if (keyOf(node)) nodes.set(keyOf(node), node);
  return nodes;
}

// mergeChildren inserts, moves and removes children.
function mergeChildren(old, now) {
  const wanted = keyed(now), there = keyed(old);
  for (const [key, node] of there) {
    if (!wanted.has(key)) node.remove();
  }
  let at = old.firstChild;
  for (const next of [...now.childNodes]) {
    const key = keyOf(next);
    let same = null;
    if (key) {
      same = there.get(key);
      there.delete(key);
    } else {
      while (at && !keyOf(at) && !alike(at, next)) { // an unkeyed node that is not wanted here
        const gone = at;
        at = at.nextSibling;
        gone.remove();
      }
      if (at && alike(at, next)) same = at;
    }
    if (!same || !alike(same, next)) {
      old.insertBefore(next, at);
      continue;
    }
    if (same === at) at = at.nextSibling;
    else old.insertBefore(same, at);
    mergeNode(same, next, false);
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}

// mergeInPlace changes children where they are, and counts those that would come, go or move.
function mergeInPlace(old, now) {
  const there = keyed(old);
  const plain = [...old.childNodes].filter((node) => !keyOf(node) && !blank(node));
  const order = [];
  let missing = 0;
  for (const next of [...now.childNodes].filter((node) => !blank(node))) {
    const same = keyOf(next) ? there.get(keyOf(next)) : plain.shift();
    if (!same || !alike(same, next)) {
      missing++;
      continue;
    }
    if (keyOf(next)) {
      there.delete(keyOf(next));
      order.push(same);
    }
    mergeNode(same, next, true);
  }
  changes += Math.max(missing, there.size + plain.length); // a new row often pushes out an old one
  if (order.some((node, i) => i > 0 && order[i - 1].compareDocumentPosition(node) & Node.DOCUMENT_POSITION_PRECEDING)) changes++;
}

const blank = (node) => node.nodeType === Node.TEXT_NODE && node.nodeValue.trim() === "";

document.addEventListener("pointermove", (e) => {
  pointer = e.pointerType === "touch" ? null : [e.clientX, e.clientY];
  apply();
}, {passive: true});
document.documentElement.addEventListener("pointerleave", () => {
  pointer = null;
  apply();
});
document.addEventListener("focusout", () => setTimeout(apply));

// ---- The stream.

let source = null, retry = 0, timer = 0, lastHeard = 0, failedSince = null;
let paused = false, hopeless = !$("#heads") || document.body.dataset.page === "act";

function show(id, text) {
  const element = document.getElementById(id);
  if (element && element.textContent !== text) element.textContent = text;
}

function showLive(why) {
  if (!why) failedSince = null;
  else failedSince ??= new Date();
  show("live", paused ? "updates paused" : why ? `not live since ${failedSince.toLocaleTimeString("en-GB", {timeZoneName: "short"})}: ${why}` : "live");
  const live = $("#live");
  if (!live) return;
  live.title = live.textContent; // the line may be cut
  live.className = paused ? "paused" : why ? "stale" : "fresh";
}

function eventsURL() {
  const query = new URLSearchParams(location.search);
  query.set("page", location.pathname.slice(prefix.length));
  return `${prefix}/events?${query}`;
}

function open() {
  close();
  if (paused || hopeless || document.hidden) return;
  lastHeard = Date.now();
  source = new EventSource(eventsURL());
  const heard = (does) => (event) => {
    lastHeard = Date.now();
    retry = 0;
    does(event);
  };
  source.addEventListener("page", heard((event) => {
    showLive("");
    take(event.data);
  }));
  source.addEventListener("fault", heard((event) => showLive(event.data)));
  source.addEventListener("beat", heard(() => {}));
  source.onerror = () => {
    showLive("no connection");
    if (source?.readyState === EventSource.CLOSED) lost(); // else the browser tries again by itself
  };
}

function close() {
  clearTimeout(timer);
  source?.close();
  source = null;
}

// lost asks why there is no stream, and opens it again later unless there can be none.
async function lost() {
  close();
  const wait = Math.min(1000 * 2 ** retry++, 10_000);
  const status = await fetch(eventsURL(), {method: "HEAD"}).then((answer) => answer.status, () => 0);
  if (status === 401) {
    location.reload(); // leads to the login
  } else if ([400, 403, 404, 405].includes(status)) {
    hopeless = true;
    if ($("main > .fault")) { // it says what is wrong
      show("live", "");
      pause.hidden = true;
    } else {
      showLive("load the page again");
    }
  } else if (!source) {
    timer = setTimeout(open, wait);
  }
}

// A stream that says nothing for long is dead, though the browser may not know.
setInterval(() => {
  if (source && Date.now() - lastHeard > 40_000) {
    showLive("no connection");
    open();
  }
}, 5_000);

document.addEventListener("visibilitychange", open);

const pause = $("#pause");
if (pause && !hopeless) {
  pause.hidden = false;
  const line = document.createElement("span");
  line.className = "status";
  line.innerHTML = '<span id="waiting" role="status"></span> <span id="live" role="status"></span>';
  pause.before(line);
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", paused);
    pause.textContent = paused ? "Resume updates" : "Pause updates";
    showLive("");
    open();
  });
}
open();

// ---- The browser's own time zone: a link, so that the URL says what is shown.

const mine = $("#mine");
if (mine) {
  const query = new URLSearchParams(location.search);
  query.set("tz", Intl.DateTimeFormat().resolvedOptions().timeZone);
  query.delete("after");
  mine.href = `?${query}`;
  mine.hidden = false;
}

// ---- Keys.

document.addEventListener("keydown", (e) => {
  const typing = e.target.closest?.("input, select, textarea, [contenteditable]");
  if (e.key === "Escape") {
    $("details.menu[open]")?.removeAttribute("open");
    document.activeElement?.blur();
    return;
  }
  if (typing || e.ctrlKey || e.altKey || e.metaKey || e.isComposing) return;
  const does = keys[e.key];
  if (does && does(e) !== false) e.preventDefault();
});

const keys = {
  "/": () => $("#filter")?.focus(),
  "?": () => $("#help")?.toggleAttribute("open"),
  j: () => step(1),
  k: () => step(-1),
  Enter: (e) => {
    if (!e.target.matches("tr")) return false;
    $("a[href*='/task?'], a[href]", e.target)?.click();
  },
};

// step moves the focus to the next row, or the previous one.
function step(by) {
  const rows = [...document.querySelectorAll("tr[data-key]")];
  if (rows.length === 0) return;
  const at = rows.indexOf(document.activeElement?.closest("tr[data-key]"));
  const row = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + by))];
  row.tabIndex = -1;
  row.focus({preventScroll: true});
  row.scrollIntoView({block: "nearest"});
}

// ---- Copying: a button in an element of class copy copies the code beside it.

document.documentElement.classList.add("script"); // shows what needs the script

document.addEventListener("click", async (e) => {
  const button = e.target.closest?.("button.copy");
  const text = button && $("pre, code", button.parentElement);
  if (!text) return;
  getSelection().selectAllChildren(text);
  try {
    await navigator.clipboard.writeText(text.textContent);
  } catch {
    document.execCommand("copy"); // without TLS there is no clipboard but this one
  }
  button.textContent = "Copied";
});
})();
