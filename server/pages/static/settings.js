// The settings of a reader, which the browser keeps.

const KEPT = { theme: "citewell-theme", language: "citewell-language" };

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
}
