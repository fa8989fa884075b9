// The picker of what is searched: what is set up, a collection, Wikipedia, or the web.

import { currentKey } from "./service.js";

/** Fill the picker, and choose `value`, or what the page says; asks for no key. */
export async function fillPicker(root, value) {
  const picker = root.querySelector("#where");
  if (!picker) {
    return;
  }
  const key = currentKey();
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  const response = await fetch("/v1/collections", { headers }).catch(() => null);
  if (!response?.ok) {
    return;
  }
  const { collections, searched, providers } = await response.json();
  const wanted = value ?? (picker.value || picker.dataset.chosen);
  const own = collections.filter(({ name, problem }) => name !== searched && !problem);
  const options = own.map(({ name }) => option(`collection:${name}`, `The collection ${name}`));
  const web = providers.filter((name) => !["collection", "wikipedia"].includes(name));
  if (providers.length > 1 || !providers.includes("wikipedia")) {
    options.push(option("wikipedia", "Wikipedia"));
  }
  if (web.length && providers.length > 1) {
    options.push(option("web", "The web"));
  }
  picker.replaceChildren(picker.options[0], ...options);
  picker.value = wanted === `collection:${searched}` ? "" : wanted;
  if (picker.selectedIndex < 0) {
    picker.value = "";
  }
}

/** The options of a question that the picker stands for. */
export function chosenOptions(form) {
  const value = form.querySelector("#where").value;
  if (value.startsWith("collection:")) {
    return { collection: value.slice("collection:".length) };
  }
  return value ? { search: value } : {};
}

function option(value, words) {
  const made = document.createElement("option");
  made.value = value;
  made.textContent = words;
  return made;
}
