// A conversation: follow-up questions, and to name, export and delete it.

import { askerOf, onQuestion, questionOptions } from "./ask.js";
import { Asker } from "./asker.js";
import { twice } from "./collection.js";
import { done, prepareExports } from "./export.js";
import { request } from "./service.js";

/** Add the behavior of a conversation; `arrive` shows the page of an answer. */
export function prepareThread(root, arrive) {
  const form = root.querySelector("#follow");
  if (!form) {
    return;
  }
  const thread = form.dataset.thread;
  const main = document.getElementById("main");
  const first = main.querySelector("#ask");
  const options = () => ({ thread, ...questionOptions(first) });
  const asker = new Asker({ root: main, form, options, arrive, place: root.querySelector("#next") });
  form.hidden = false;
  onQuestion(form, asker);
  const article = root.querySelector(".answer");
  const isFollowUp = root.querySelector(".turns") !== null;
  (isFollowUp ? asker : askerOf(main, first, arrive)).prepareAgain(article, article.querySelector("#asked").textContent);
  prepareTools(root.querySelector("#thread-tools"), `/v1/threads/${encodeURIComponent(thread)}`);
}

function prepareTools(tools, address) {
  const message = tools.querySelector(".message");
  tools.hidden = false;
  tools.querySelector("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const title = tools.querySelector("input").value.trim();
    if (!title) {
      message.textContent = "Write a title.";
      return;
    }
    const headers = { "Content-Type": "application/json" };
    const body = JSON.stringify({ title });
    if (await done(request(address, { method: "PATCH", body, headers }), message, "Renamed.")) {
      document.title = `${title} · Citewell`;
      tools.querySelector(".permalink").textContent = title;
    }
  });
  prepareExports(tools, address, message);
  twice(tools.querySelector("#delete-thread"), async () => {
    if (await done(request(address, { method: "DELETE" }), message, "")) {
      location.assign("/history");
    }
  });
}
