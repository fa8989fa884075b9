// The page before a question: the last questions of the reader.

import { make } from "./progress.js";
import { currentKey } from "./service.js";

const MOST = 5;
const READ = 20; // of which the same question, asked again, is shown once

/** Show the last questions, if there are any; asks for no key. */
export async function showLastQuestions(root) {
  const section = root.querySelector("#last");
  if (!section) {
    return;
  }
  const key = currentKey();
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  const response = await fetch(`/v1/threads?limit=${READ}`, { headers }).catch(() => null);
  const { threads } = response?.ok ? await response.json() : { threads: [] };
  const newest = new Map(threads.toReversed().map(({ id, title }) => [title, id]));
  const shown = threads.filter(({ id, title }) => newest.get(title) === id).slice(0, MOST);
  const items = shown.map(({ id, title }) => {
    const link = make("a", "", title);
    link.href = `/threads/${encodeURIComponent(id)}`;
    link.dir = "auto";
    const item = make("li", "");
    item.append(link);
    return item;
  });
  section.querySelector("ul").replaceChildren(...items);
  section.hidden = !items.length;
}
