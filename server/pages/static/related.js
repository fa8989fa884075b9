// Questions to ask next, which the language model writes once the answer stands.

import { make } from "./progress.js";
import { request } from "./service.js";

let asking = null;

/** Show the related questions of an answer when they are written. */
export async function showRelated(root) {
  const section = root.querySelector(".related[data-alike]");
  if (!section) {
    return;
  }
  leaveRelated();
  asking = new AbortController();
  const { answer } = section.closest("[data-answer]").dataset;
  const address = `/v1/answers/${encodeURIComponent(answer)}/related`;
  const response = await request(address, { signal: asking.signal }).catch(() => null);
  const { questions } = response?.ok ? await response.json() : { questions: [] };
  const items = questions.map((question) => {
    const link = make("a", "", question);
    link.href = `/?q=${encodeURIComponent(question)}${section.dataset.alike}`;
    link.dir = "auto";
    const item = make("li", "");
    item.append(link);
    return item;
  });
  section.querySelector("ul").replaceChildren(...items);
  section.hidden = !items.length;
}

/** Give up related questions that are not written yet, so that the next question need not wait for them. */
export function leaveRelated() {
  asking?.abort();
}
