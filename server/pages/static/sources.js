// Filling collections, and the jobs that do it.

import { askForKey, post, problemOf, request, troubleOf } from "./service.js";

const EVERY = 1000; // milliseconds between two looks at a job

/** Bring the page of the sources to life; `refresh` loads its lists again. */
export function prepareSources(root, refresh) {
  const form = root.querySelector("#index");
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    begin(form, root, refresh);
  });
  watchJobs(refresh);
}

/** Keep the jobs that run up to date. */
export function watchJobs(refresh) {
  for (const job of document.querySelectorAll('[data-job][data-status="running"]')) {
    watch(job, refresh);
  }
}

/** Let another key be given where the one in use is not enough. */
export function prepareOtherKey(root, refresh) {
  const button = root.querySelector("#other-key");
  if (button) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      if (await askForKey("Give a key that may do this.")) {
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
