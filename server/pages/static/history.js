// The history: questions stand by the reader's day, and are deleted.

import { twice } from "./collection.js";
import { done } from "./export.js";
import { request } from "./service.js";
import { localDay } from "./times.js";

/** Add the behavior of the history; `refresh` reloads the page. */
export function prepareHistory(root, refresh) {
  byDay(root.querySelector("ol.history"));
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

/** Divide a list of questions, newest first, into one for each day, below its name. */
function byDay(list) {
  const days = new Map();
  for (const row of list?.children ?? []) {
    const day = localDay(row.querySelector("time").dateTime);
    days.set(day, [...(days.get(day) ?? []), row]);
  }
  list?.replaceWith(
    ...[...days].map(([day, rows], number) => {
      const section = document.createElement("section");
      const title = document.createElement("h2");
      const ofDay = list.cloneNode();
      section.className = "day";
      title.id = `day-${number}`;
      title.textContent = day;
      section.setAttribute("aria-labelledby", title.id);
      ofDay.append(...rows);
      section.append(title, ofDay);
      return section;
    }),
  );
}
