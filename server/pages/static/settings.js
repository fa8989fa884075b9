// The settings of a reader, which the browser keeps.

import { chosenOptions, fillPicker, preparePicker } from "./where.js";

const KEPT = { theme: "citewell-theme", language: "citewell-language" };
const USUAL = "citewell-usual";

/** Add the behavior of the page of settings. */
export function prepareSettings(root) {
  for (const [name, key] of Object.entries(KEPT)) {
    const field = root.querySelector(`#${name}`);
    if (!field) {
      return;
    }
    field.value = localStorage.getItem(key) ?? "";
    field.closest("[hidden]")?.removeAttribute("hidden");
    field.addEventListener("change", () => {
      localStorage.setItem(key, field.value);
      if (name === "language") {
        location.reload();
      }
      document.documentElement.dataset[name] = field.value;
    });
  }
  const usual = root.querySelector("#usual");
  usual.hidden = false;
  beginAsUsual(usual);
  preparePicker(root);
  fillPicker(root);
  usual.addEventListener("change", () => {
    const { collection = [], search = [] } = chosenOptions(usual);
    const places = [...collection.map((name) => `collection:${name}`), ...search];
    localStorage.setItem(USUAL, JSON.stringify({ mode: usual.querySelector("#mode").value, places }));
  });
}

/** Let a form for questions begin with what the reader has set, where the page does not say otherwise. */
export function beginAsUsual(form) {
  const { mode = "", places = [] } = JSON.parse(localStorage.getItem(USUAL) ?? "{}");
  const picker = form.querySelector("#where");
  const choice = form.querySelector("#mode");
  picker.dataset.chosen ||= places.join(" ");
  if (!choice.value && [...choice.options].some((option) => option.value === mode)) {
    choice.value = mode;
  }
}
