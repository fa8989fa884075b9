// Indexing sources, and the progress of jobs.

import { askForKey, post, problemOf, request, troubleOf } from "./service.js";

const EVERY = 1000; // milliseconds between two looks at a job

/** Add the behavior of the page of sources; `refresh` reloads its lists. */
export function prepareSources(root, refresh) {
  const form = root.querySelector("#index");
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    begin(form, root, refresh);
  });
  watchJobs(refresh);
}

/** Update running jobs. */
export function watchJobs(refresh) {
  for (const job of document.querySelectorAll('[data-job][data-status="running"]')) {
    watch(job, refresh);
  }
}

/** Ask for another key if the current one is missing or lacks the scope. */
export function prepareOtherKey(root, refresh) {
  const button = root.querySelector("#other-key");
  if (button) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      if (await askForKey(button.dataset.why ?? "Enter a key with the scope admin.")) {
        await refresh();
      }
    });
  }
}

async function begin(form, root, refresh) {
  const problem = root.querySelector("#problem");
  const button = form.querySelector("button");
  const { name, source } = Object.fromEntries(new FormData(form));
  button.disabled = true;
  problem.textContent = "";
  try {
    const response = await post("/v1/collections", { name, source });
    if (response.ok) {
      say(`Indexing ${source} into ${name}.`);
      await refresh();
      return;
    }
    problem.textContent = await problemOf(response);
  } catch (error) {
    problem.textContent = troubleOf(error);
  } finally {
    button.disabled = false;
    if (document.activeElement === document.body) {
      button.focus(); // a button that is disabled loses it
    }
  }
}

async function watch(item, refresh) {
  const address = `/v1/jobs/${encodeURIComponent(item.dataset.job)}`;
  while (item.isConnected) {
    const response = await request(address).catch(() => null);
    if (response?.ok) {
      const job = await response.json();
      if (job.status !== "running") {
        if (item.isConnected) {
          say(`Indexing ${job.arguments.source}: ${job.status}.`);
          await refresh();
        }
        return;
      }
      item.querySelector(".count").textContent = `${job.done} ${job.done === 1 ? "page" : "pages"}`;
      item.querySelector(".note").textContent = job.message;
    }
    await new Promise((next) => setTimeout(next, EVERY));
  }
}

function say(text) {
  document.getElementById("status").textContent = text;
}
