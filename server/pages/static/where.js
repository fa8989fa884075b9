// The picker of what is searched: what is set up, or any of the collections, Wikipedia, and the web or its providers.

import { make } from "./progress.js";
import { KEY_ENTERED, currentKey } from "./service.js";

/** Fill the picker, and choose `value`, or what the page says; asks for no key. */
export async function fillPicker(root, value) {
  const picker = root.querySelector("#where");
  if (!picker) {
    return;
  }
  const key = currentKey();
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  const response = await fetch("/v1/collections", { headers }).catch(() => null);
  const { collections, places: others } = response?.ok ? await response.json() : { collections: [], places: [] };
  const before = chosenPlaces(picker);
  const wanted = value ? [value] : before.length ? before : picker.dataset.chosen.split(" ").filter(Boolean);
  const own = collections.filter(({ problem }) => !problem);
  const places = own.map(({ name }) => [`collection:${name}`, `The collection ${name}`]);
  places.push(...others.map(({ name, title }) => [name, title]));
  const known = places.map(([name]) => name);
  const unknown = wanted.filter((name) => !known.includes(name)); // which the service refuses by name
  places.push(...unknown.map((name) => [name, name.replace("collection:", "The collection ")]));
  const list = picker.querySelector("ul");
  list.replaceChildren(list.firstElementChild, ...places.map((place) => choice(...place, wanted)));
  show(picker);
}

/** The options of a question that the picker stands for. */
export function chosenOptions(form) {
  const places = chosenPlaces(form.querySelector("#where"));
  const collection = places.filter((each) => each.startsWith("collection:")).map((each) => each.slice(11));
  const search = places.filter((each) => !each.startsWith("collection:"));
  return { ...(collection.length && { collection }), ...(search.length && { search }) };
}

/** Let the picker be used: what is set up stands alone, it closes as menus do, and a key may show it more. */
export function preparePicker(root) {
  const picker = root.querySelector("#where");
  document.addEventListener(KEY_ENTERED, () => picker.isConnected && fillPicker(root));
  picker.addEventListener("change", ({ target }) => {
    if (!target.value && target.checked) {
      boxes(picker).forEach((each) => (each.checked = false));
    }
    show(picker);
  });
  picker.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && picker.open) {
      picker.open = false;
      picker.querySelector("summary").focus();
    }
  });
  document.addEventListener("click", ({ target }) => {
    if (!picker.contains(target)) {
      picker.open = false;
    }
  });
}

/** Say in the closed picker what is chosen. */
function show(picker) {
  const usual = picker.querySelector('[value=""]');
  const chosen = boxes(picker).filter((each) => each.checked);
  usual.checked = !chosen.length;
  const words = (chosen.length ? chosen : [usual]).map((each) => make("span", "", each.parentElement.textContent.trim()));
  picker.querySelector(".chosen").replaceChildren(...words.flatMap((word, place) => (place ? [", ", word] : [word])));
}

function chosenPlaces(picker) {
  return boxes(picker).filter((each) => each.checked).map((each) => each.value);
}

/** The boxes of single places. */
function boxes(picker) {
  return [...picker.querySelectorAll('input:not([value=""])')];
}

function choice(value, words, wanted) {
  const box = document.createElement("input");
  box.type = "checkbox";
  box.value = value;
  box.checked = wanted.includes(value);
  const label = make("label", "");
  label.append(box, make("span", "", words));
  const item = make("li", "");
  item.append(label);
  return item;
}
