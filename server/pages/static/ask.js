// The form for a question.

import { prepareAdding } from "./add.js";
import { Asker } from "./asker.js";
import { request } from "./service.js";
import { beginAsUsual } from "./settings.js";
import { chosenOptions, fillPicker, preparePicker } from "./where.js";

/** Add the behavior of the form; `arrive` is called with the address of the finished answer. */
export function prepareAsking(root, arrive) {
  const form = root.querySelector("#ask");
  if (!form) {
    return;
  }
  const field = form.querySelector("#question");
  const asker = askerOf(root, form, arrive);
  onQuestion(form, asker);

  if (root.querySelector("#hero")) {
    beginAsUsual(form);
    field.focus();
  }
  preparePicker(root);
  const picked = fillPicker(root);
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
    asker.follow(running.querySelector("h1").textContent, (signal) => request(address, { headers, signal }));
  }
}

/** The way to ask with the form that every page with answers has. */
export function askerOf(root, form, arrive) {
  return new Asker({ root, form, options: () => questionOptions(form), arrive });
}

/** The options of a question that the form stands for. */
export function questionOptions(form) {
  const modes = { quote: { generator: "extractive" }, browse: { mode: "browse" } };
  const { value } = form.querySelector("#mode");
  const writer = value.startsWith("writer:") && { generator: value.slice("writer:".length) };
  return { ...modes[value], ...writer, ...chosenOptions(form) };
}

/** Ask what is sent with a form, by Enter too. */
export function onQuestion(form, asker) {
  const field = form.querySelector("textarea");
  sendOnEnter(form, field);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const question = field.value.trim();
    if (question && !form.querySelector("[type=submit]").hidden) {
      asker.ask(question);
    }
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
