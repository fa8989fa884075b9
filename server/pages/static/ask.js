// The form for a question.

import { prepareAdding } from "./add.js";
import { post, request } from "./service.js";
import { chosenOptions, fillPicker, preparePicker } from "./where.js";
import { work } from "./working.js";

/** Add the behavior of the form; `arrive` is called with the address of the finished answer. */
export function prepareAsking(root, arrive) {
  const form = root.querySelector("#ask");
  if (!form) {
    return;
  }
  const field = form.querySelector("#question");
  const ask = (question, begin) => work({ root, form, question, begin, arrive });

  onQuestion(form, field, () => questionOptions(form), ask);

  preparePicker(root);
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
    ask(running.querySelector("h1").textContent, (signal) => request(address, { headers, signal }));
  }
}

/** The options of a question that the form stands for. */
export function questionOptions(form) {
  const modes = { quote: { generator: "extractive" }, browse: { mode: "browse" } };
  const { value } = form.querySelector("#mode");
  const writer = value.startsWith("writer:") && { generator: value.slice("writer:".length) };
  return { ...modes[value], ...writer, ...chosenOptions(form) };
}

/** Call `ask` with the question that is sent, by Enter too, and the request for it; `options` adds to the request. */
export function onQuestion(form, field, options, ask) {
  sendOnEnter(form, field);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const question = field.value.trim();
    if (!question || form.querySelector("[type=submit]").hidden) {
      return;
    }
    const headers = { Accept: "text/event-stream" };
    const asked = { question, ...options() };
    ask(question, (signal) => post("/v1/answers", asked, { headers, signal }));
  });
}

/** Send a form with Enter; Shift-Enter begins a line. */
function sendOnEnter(form, field) {
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
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
