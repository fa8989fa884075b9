// A conversation: follow-up questions, and to name, export and delete it.

import { onQuestion, questionOptions } from "./ask.js";
import { twice } from "./collection.js";
import { done, prepareExports } from "./export.js";
import { request } from "./service.js";
import { work } from "./working.js";

/** Add the behavior of a conversation; `arrive` shows the page of an answer. */
export function prepareThread(root, arrive) {
  const form = root.querySelector("#follow");
  if (!form) {
    return;
  }
  const thread = form.dataset.thread;
  const field = form.querySelector("textarea");
  form.hidden = false;
  const options = () => ({ thread, ...questionOptions(document.querySelector("#ask")) });
  onQuestion(form, field, options, (question, begin) => {
    const place = root.querySelector("#next");
    work({ root: document.getElementById("main"), form, question, begin, arrive, place });
  });
  prepareTools(root.querySelector("#thread-tools"), `/v1/threads/${encodeURIComponent(thread)}`);
}

function prepareTools(tools, address) {
  const message = tools.querySelector(".message");
  tools.hidden = false;
  tools.querySelector("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const title = tools.querySelector("input").value;
    const headers = { "Content-Type": "application/json" };
    await done(request(address, { method: "PATCH", body: JSON.stringify({ title }), headers }), message, "Renamed.");
  });
  prepareExports(tools, address, message);
  twice(tools.querySelector("#delete-thread"), async () => {
    if (await done(request(address, { method: "DELETE" }), message, "")) {
      location.assign("/history");
    }
  });
}
