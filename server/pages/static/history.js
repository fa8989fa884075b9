// The history: questions are deleted.

import { twice } from "./collection.js";
import { done } from "./export.js";
import { request } from "./service.js";

/** Add the behavior of the history; `refresh` reloads the page. */
export function prepareHistory(root, refresh) {
  for (const button of root.querySelectorAll("[data-delete]")) {
    button.hidden = false;
    twice(button, async () => {
      const address = `/v1/answers/${encodeURIComponent(button.dataset.delete)}`;
      if (await done(request(address, { method: "DELETE" }), root.querySelector("#problem"), "")) {
        await refresh();
        document.getElementById("main").focus();
      }
    });
  }
}
