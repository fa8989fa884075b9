// The form for a question, and following the question to its answer.

import { prepareAdding } from "./add.js";
import { follow } from "./events.js";
import { Progress } from "./progress.js";
import { post, problemOf, request, troubleOf } from "./service.js";
import { chosenOptions, fillPicker } from "./where.js";

/** Add the behavior of the form; `arrive` is called with the address of the finished answer. */
export function prepareAsking(root, arrive) {
  const form = root.querySelector("#ask");
  if (!form) {
    return;
  }
  const field = form.querySelector("#question");
  const asking = form.querySelector("[type=submit]");
  const stop = form.querySelector("#stop");
  const problem = root.querySelector("#problem");

  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    }
  });

  async function work(question, begin) {
    const leaving = new AbortController();
    problem.textContent = "";
    root.querySelector("#hero")?.remove();
    stop.hidden = false;
    if (document.activeElement === asking) {
      stop.focus();
    }
    asking.hidden = true;
    stop.onclick = () => leaving.abort();
    const progress = new Progress(question);
    try {
      const answer = await answered(begin, progress, leaving.signal);
      if (answer) {
        await arrive(`/answers/${encodeURIComponent(answer.id)}`);
        progress.end();
        progress.say(summaryOf(answer));
        field.value = "";
      }
    } catch (error) {
      progress.end();
      root.querySelector("#result").replaceChildren();
      problem.textContent = leaving.signal.aborted ? "Stopped." : error.message;
    } finally {
      asking.hidden = false;
      if (document.activeElement === stop) {
        (root.querySelector("#asked") ?? field).focus();
      }
      stop.hidden = true;
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const question = field.value.trim();
    if (!question || asking.hidden) {
      return;
    }
    const headers = { Accept: "text/event-stream" };
    const mode = form.querySelector("#browse").checked ? { mode: "browse" } : {};
    const asked = { question, ...mode, ...chosenOptions(form) };
    work(question, (signal) => post("/v1/answers", asked, { headers, signal }));
  });

  const picked = fillPicker(root);
  if (root.querySelector("#hero")) {
    field.focus();
  }
  if (root.querySelector("[data-at-once]")) {
    history.replaceState(null, "", "/");
    picked.then(() => form.requestSubmit());
  }
  prepareAdding(root, async (name) => {
    await fillPicker(root, `collection:${name}`);
    field.focus();
  });

  const running = root.querySelector('.answer[data-status="running"]');
  if (running) {
    const address = `/v1/answers/${encodeURIComponent(running.dataset.answer)}/events`;
    const headers = { Accept: "text/event-stream" };
    work(running.querySelector("h1").textContent, (signal) => request(address, { headers, signal }));
  }
}

/** "/" and Ctrl-K move to the field for a question, or to the page that has one. */
export function prepareShortcuts() {
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("input, textarea, select, [contenteditable]");
    const isSlash = event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
    const isK = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
    if ((isSlash || isK) && !document.querySelector("dialog[open]")) {
      event.preventDefault();
      const field = document.getElementById("question");
      if (field) {
        field.focus();
        field.select();
      } else {
        location.assign("/");
      }
    }
  });
}

async function answered(begin, progress, signal) {
  const response = await begin(signal).catch((error) => {
    throw new Error(troubleOf(error));
  });
  if (!response.ok) {
    throw new Error(await problemOf(response));
  }
  for await (const event of follow(response, signal)) {
    if (event.name === "done") {
      return event.data;
    }
    if (event.name === "error") {
      throw new Error(event.data.detail);
    }
    progress.show(event);
  }
  return null;
}

function summaryOf({ outcome, sentences, fallback }) {
  if (fallback === "unsupported" && outcome === "answered") {
    return "The sources do not support what the model wrote, so the answer is quotations.";
  }
  if (outcome !== "answered") {
    return "No evidence was found.";
  }
  const doubtful = sentences.filter((sentence) => !sentence.supported).length;
  const count = `${sentences.length} ${sentences.length === 1 ? "sentence" : "sentences"}`;
  return `Answered in ${count}, ${doubtful ? `${doubtful} not supported` : "all supported"}.`;
}
