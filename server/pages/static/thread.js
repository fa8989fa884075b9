// A conversation: follow-up questions, and to name, export and delete it.

import { onQuestion, questionOptions } from "./ask.js";
import { twice } from "./collection.js";
import { problemOf, request, troubleOf } from "./service.js";
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
  for (const button of tools.querySelectorAll("[data-export]")) {
    button.addEventListener("click", async () => {
      const response = await done(request(`${address}/export?format=${button.dataset.export}`), message, "");
      if (response) {
        save(await response.blob(), /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition"))[1]);
      }
    });
  }
  twice(tools.querySelector("#delete-thread"), async () => {
    if (await done(request(address, { method: "DELETE" }), message, "")) {
      location.assign("/history");
    }
  });
}

/** Say how a request ended; resolves to its reply if it succeeded. */
async function done(sent, message, words) {
  try {
    const response = await sent;
    message.textContent = response.ok ? words : await problemOf(response);
    return response.ok ? response : null;
  } catch (error) {
    message.textContent = troubleOf(error);
    return null;
  }
}

/** Give a file to the reader; a link could not send the key. */
function save(content, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
