// The page of a collection: documents are removed, and the collection is deleted.

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
        document.getElementById("documents-title")?.scrollIntoView({ block: "nearest" });
      }
    });
  }
  const all = root.querySelector("#delete-collection");
  if (all) {
    twice(all, async () => {
      if (await done(at, problem)) {
        location.assign("/collections");
      }
    });
  }
}

/** Act at the second press of a button, after it has asked. */
export function twice(button, act) {
  const words = button.textContent;
  button.addEventListener("click", async () => {
    if (!button.dataset.sure) {
      button.dataset.sure = "1";
      button.textContent = "Really delete?";
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
