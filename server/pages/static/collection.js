// The page of a collection: it is refreshed, shared and deleted, and documents are removed.

import { ended } from "./jobs.js";
import { make } from "./progress.js";
import { problemOf, request, troubleOf } from "./service.js";

/** Add the behavior of the page; `refresh` reloads it. */
export function prepareCollection(root, refresh) {
  const name = root.querySelector("#documents")?.dataset.collection;
  if (!name) {
    return;
  }
  const at = `/v1/collections/${encodeURIComponent(name)}`;
  const problem = root.querySelector("#problem");
  for (const button of root.querySelectorAll("[data-remove]")) {
    twice(button, async () => {
      const address = `${at}/documents?url=${encodeURIComponent(button.dataset.remove)}`;
      if (await done(address, problem)) {
        await refresh();
        document.getElementById("documents-title")?.focus(); // the button went with its document
      }
    });
  }
  prepareRefreshing(root.querySelector("#refresh"), at, refresh);
  prepareReaders(root.querySelector("#readers"), at);
  const all = root.querySelector("#delete-collection");
  if (all && isNew(all)) {
    twice(all, async () => {
      if (await done(at, problem)) {
        location.assign("/collections");
      }
    });
  }
}

/** Whether an element, which may outlive the list of documents, has no behavior yet. */
function isNew(element) {
  const before = element.dataset.ready;
  element.dataset.ready = "1";
  return !before;
}

function prepareRefreshing(button, at, refresh) {
  if (!button || !isNew(button)) {
    return;
  }
  button.addEventListener("click", async () => {
    const [progress, problem] = ["progress", "problem"].map((each) => document.getElementById(`refresh-${each}`));
    problem.textContent = "";
    document.getElementById("refreshed").replaceChildren();
    button.disabled = true;
    progress.hidden = false;
    try {
      const job = await finished(`${at}/refresh`);
      await refresh();
      const [words, ...lines] = job.message.split("\n");
      const names = lines.map((line) => make("li", "", line));
      names.forEach((each) => (each.dir = "auto"));
      const list = document.getElementById("refreshed");
      list.replaceChildren(...names);
      list.hidden = !names.length;
      say(words);
      document.getElementById("refresh").focus(); // the page is a new one
    } catch (error) {
      problem.textContent = error instanceof TypeError ? troubleOf(error) : error.message;
      say("");
    } finally {
      button.disabled = false;
      progress.hidden = true;
    }
  });
}

function prepareReaders(form, at) {
  if (!form || !isNew(form)) {
    return;
  }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const [status, problem] = ["status", "problem"].map((each) => document.getElementById(`readers-${each}`));
    status.textContent = problem.textContent = "";
    const chosen = new FormData(form);
    const body = JSON.stringify({ keys: chosen.getAll("keys"), accounts: chosen.getAll("accounts") });
    const headers = { "Content-Type": "application/json" };
    try {
      const response = await request(`${at}/readers`, { method: "PUT", headers, body });
      if (!response.ok) {
        throw new Error(await problemOf(response));
      }
      const { keys, accounts } = await response.json();
      const some = keys.length + accounts.length;
      status.textContent = some ? "Saved. Only those who are chosen may read it." : "Saved. Everyone who may ask may read it.";
    } catch (error) {
      problem.textContent = error instanceof TypeError ? troubleOf(error) : error.message;
    }
  });
}

/** The job that a request begins, once it has ended well. */
async function finished(address) {
  say("Refreshing…");
  const response = await request(address, { method: "POST" });
  if (!response.ok) {
    throw new Error(await problemOf(response));
  }
  const { id } = await response.json();
  const job = await ended(id, ({ done }) => say(done ? `Refreshing: ${done} read.` : "Refreshing…"));
  if (job.status !== "done") {
    throw new Error(job.message);
  }
  return job;
}

function say(words) {
  document.getElementById("refresh-status").textContent = words;
}

/** Act at the second press of a button, after it has asked. */
export function twice(button, act) {
  const words = button.textContent;
  const label = button.getAttribute("aria-label");
  button.addEventListener("click", async () => {
    if (!button.dataset.sure) {
      button.dataset.sure = "1";
      button.textContent = "Really delete?";
      button.removeAttribute("aria-label"); // which would hide the question
      button.addEventListener("blur", () => reset(), { once: true });
      return;
    }
    button.disabled = true;
    await act();
    button.disabled = false;
    reset();
  });
  function reset() {
    delete button.dataset.sure;
    button.textContent = words;
    if (label) {
      button.setAttribute("aria-label", label);
    }
  }
}

async function done(address, problem) {
  try {
    const response = await request(address, { method: "DELETE" });
    problem.textContent = response.ok ? "" : await problemOf(response);
    return response.ok;
  } catch (error) {
    problem.textContent = troubleOf(error);
    return false;
  }
}
