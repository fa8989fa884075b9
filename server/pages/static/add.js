// Adding documents to a collection: files that are chosen or dropped, and links.

import { ended } from "./jobs.js";
import { make } from "./progress.js";
import { currentKey, problemOf, request, troubleOf } from "./service.js";

const FOR_OWNER = "To add documents, open the address that citewell serve printed, or use a key with the scope admin.";
const WORDS = { waiting: "Reading…", indexed: "Added", unchanged: "Already there", skipped: "Skipped" };

/** Add the behavior of the form; `arrive` is called with the collection once documents are in it. */
export function prepareAdding(root, arrive) {
  const form = root.querySelector("#add");
  if (!form) {
    return;
  }
  const files = form.querySelector("#files");
  const link = form.querySelector("#link");
  const section = root.querySelector("#adding");
  const opener = root.querySelector("#show-add");
  const show = (shown) => {
    if (section) {
      section.hidden = !shown;
      opener.setAttribute("aria-expanded", String(shown));
    }
  };
  root.querySelector("#ask")?.addEventListener("submit", () => show(false));
  if (opener) {
    opener.hidden = false;
    opener.addEventListener("click", () => {
      show(section.hidden);
      if (!section.hidden) {
        files.focus();
      }
    });
  }
  const add = (given, links) => {
    show(true);
    return begin(form, given, links, arrive);
  };
  files.addEventListener("change", () => {
    const given = [...files.files];
    files.value = "";
    add(given, []);
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const address = link.value.trim();
    if (address && (await add([], [address]))) {
      link.value = "";
    }
  });
  prepareDropping(add, root);
  preparePasting(add, root);
}

/** Take files that are pasted anywhere on the page, and a link that is pasted outside of the fields. */
function preparePasting(add, root) {
  document.addEventListener("paste", (event) => {
    if (!root.isConnected || document.querySelector("dialog[open]")) {
      return;
    }
    const files = [...event.clipboardData.files];
    const isTyping = event.target.matches?.("input, textarea, [contenteditable]");
    const text = isTyping ? "" : event.clipboardData.getData("text/plain").trim();
    const links = !files.length && /^https?:\/\/\S+$/.test(text) ? [text] : [];
    if (files.length || links.length) {
      event.preventDefault();
      add(files, links);
    }
  });
}

/** Take files and links that are dropped anywhere on the page. */
function prepareDropping(add, root) {
  const on = (name, act) =>
    document.addEventListener(name, (event) => {
      if (root.isConnected && [...event.dataTransfer.types].some((type) => type === "Files" || type === "text/uri-list")) {
        event.preventDefault();
        act(event.dataTransfer);
      }
    });
  const mark = (dropping) => document.body.classList.toggle("dropping", dropping);
  on("dragover", () => mark(true));
  document.addEventListener("dragleave", (event) => event.relatedTarget ?? mark(false));
  on("drop", (data) => {
    mark(false);
    const files = [...data.files];
    const links = files.length ? [] : data.getData("text/uri-list").split(/\r?\n/).filter((line) => /^https?:/.test(line));
    if (files.length || links.length) {
      add(files, links);
    }
  });
}

/** Send documents and follow their job; returns whether they were taken. */
async function begin(form, files, links, arrive) {
  const into = form.querySelector("#into");
  const problem = form.querySelector("#add-problem");
  const name = form.dataset.collection || into.value.trim();
  problem.textContent = "";
  if (into && !into.reportValidity()) {
    return false;
  }
  const body = new FormData();
  files.forEach((file) => body.append("file", file));
  links.forEach((link) => body.append("link", link));
  const items = [...files.map((file) => file.name), ...links].map((title) => listed(form, title));
  say(form, `Sending ${counted(items.length)}…`);
  try {
    const response = await request(`/v1/collections/${encodeURIComponent(name)}/documents`, { method: "POST", body });
    if (!response.ok) {
      throw new Error(response.status === 403 && !currentKey() ? FOR_OWNER : await problemOf(response));
    }
    await followed(form, items, name, (await response.json()).id, arrive);
    return true;
  } catch (error) {
    items.forEach((item) => item.remove());
    say(form, "");
    problem.textContent = error instanceof TypeError ? troubleOf(error) : error.message;
    return false;
  }
}

async function followed(form, items, name, id, arrive) {
  const { status, message, documents } = await ended(id, (job) => {
    job.documents.forEach((document, number) => update(items[number], document, job.status));
    say(form, `Reading ${counted(items.length)}: ${job.done} done.`);
  });
  const added = documents.filter((each) => each.status === "indexed" || each.status === "unchanged").length;
  say(form, `${added} of ${counted(items.length)} in the collection ${name}.`);
  if (status !== "done") {
    throw new Error(message);
  }
  if (added) {
    await arrive(name);
  }
}

function listed(form, title) {
  const item = make("li", "waiting");
  const named = make("span", "title", title);
  named.dir = "auto";
  item.append(named, " ", make("span", "about", "Sending…"));
  form.querySelector(".given").append(item);
  return item;
}

/** Words of a document, or of what read it, which are not translated. */
function written(words) {
  const part = make("span", "", words ?? "");
  part.dir = "auto";
  return part;
}

function update(item, { name, status, reason, title, passages }, job) {
  item.className = status;
  const state = status === "waiting" && job !== "running" ? "Not read" : WORDS[status];
  const count = status === "indexed" ? `${passages} ${passages === 1 ? "passage" : "passages"}` : "";
  const parts = [make("span", "", state), written(title === name ? "" : title), make("span", "", count), written(reason)];
  item.querySelector(".about").replaceChildren(...parts.filter(({ textContent }) => textContent).flatMap((part) => [part, " "]));
}

function counted(number) {
  return `${number} ${number === 1 ? "document" : "documents"}`;
}

function say(form, text) {
  form.querySelector("#add-status").textContent = text;
}
