// Judging answers by mouse or keyboard: comparisons, ratings, rankings and studies.
//
// The names of inputs are paths in the request, such as `answers.0.scores.fluency`; the form has the rest.

import { post, problemOf, troubleOf } from "./service.js";

const OFF = "citewell-no-shortcuts";
const TYPING = "textarea, select, input:not([type=radio], [type=checkbox]), dialog";

/** Add the behavior of a form that judges answers; `refresh` reloads the page. */
export function prepareJudging(root, refresh) {
  const form = root.querySelector("#judging");
  if (form) {
    prepareForm(form, refresh);
    prepareShortcuts(form, form.querySelector("#skip"));
  }
}

/** Reload the page at an address, say what was done, and begin at the next question. */
export async function goOn(refresh, address, said) {
  history.replaceState(null, "", address);
  await refresh();
  document.getElementById("status").textContent = said;
  document.getElementById("judged-question")?.focus();
}

function prepareForm(form, refresh) {
  const problem = form.querySelector("#judging-problem");
  async function store(button, verdict) {
    button.disabled = true;
    problem.textContent = "";
    try {
      const response = await post(form.dataset.address, verdict);
      if (response.ok) {
        await goOn(refresh, form.dataset.next, "Thank you. Saved.");
        return;
      }
      problem.textContent = await problemOf(response);
    } catch (error) {
      problem.textContent = troubleOf(error);
    } finally {
      button.disabled = false;
    }
    button.focus(); // a button that is disabled loses it
  }
  const unfold = ({ target }) => target.closest("details")?.setAttribute("open", "");
  form.addEventListener("invalid", unfold, true); // a part that is folded cannot be pointed at
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    store(form.querySelector("[type=submit]"), verdictOf(form));
  });
  for (const button of form.querySelectorAll("[data-flag]")) {
    button.addEventListener("click", () => store(button, { ...bodyOf(form), flag: button.dataset.flag }));
  }
}

/** The part of the request that the page has written, and the comment. */
function bodyOf(form) {
  const body = JSON.parse(form.dataset.body);
  const comment = form.elements.comment?.value; // ratings have none
  return comment ? { ...body, comment } : body;
}

/** The request: what was chosen, at the path that its name says. */
function verdictOf(form) {
  const verdict = bodyOf(form);
  for (const [name, value] of new FormData(form)) {
    if (name !== "comment" && value !== "") {
      put(verdict, name.split("."), /^-?\d+$/.test(value) ? Number(value) : value);
    }
  }
  return verdict;
}

function put(verdict, path, value) {
  const [, index, list, number, part] = path;
  if (list === "trust") {
    (verdict.answers[index].trust ??= []).push({ reference: Number(number), trust: value });
  } else if (list === "claims") {
    const claims = (verdict.answers[index].claims ??= []);
    let claim = claims.find(({ sentence }) => sentence === Number(number));
    if (!claim) {
      claim = { sentence: Number(number) };
      claims.push(claim);
    }
    claim[part] = value;
  } else {
    const last = path.pop();
    path.reduce((node, key) => (node[key] ??= {}), verdict)[last] = value;
  }
}

function prepareShortcuts(form, skip) {
  const use = form.querySelector("#use-shortcuts");
  use.checked = sessionStorage.getItem(OFF) === null;
  use.addEventListener("change", () => {
    if (use.checked) {
      sessionStorage.removeItem(OFF);
    } else {
      sessionStorage.setItem(OFF, "1");
    }
  });

  const scales = () => [...form.querySelectorAll(".scale")].filter((scale) => scale.checkVisibility());
  const stops = () => [...scales(), form.querySelector("[type=submit]")];
  const chosen = (scale) => scale.querySelector(":checked");
  const here = () => stops().findIndex((stop) => stop.contains(document.activeElement));
  function go(index) {
    const all = stops();
    const stop = all[Math.min(Math.max(index, 0), all.length - 1)];
    stop.closest(".ranked")?.scrollIntoView({ block: "nearest" });
    (stop.matches(".scale") ? (chosen(stop) ?? stop.querySelector("input")) : stop).focus();
  }
  function rate(number) {
    const at = here();
    const all = scales();
    const index = all[at] ? at : all.findIndex((scale) => !chosen(scale));
    const level = all[index]?.querySelectorAll("input")[number - 1];
    if (level) {
      level.checked = true;
      go(index + 1);
    }
  }

  const leaving = new AbortController();
  document.addEventListener(
    "keydown",
    (event) => {
      if (!form.isConnected) {
        leaving.abort(); // another page has its own
        return;
      }
      if (!use.checked || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) {
        return;
      }
      if (event.target.closest?.(TYPING)) {
        return;
      }
      const key = event.key.toLowerCase();
      if (/^[1-9]$/.test(key)) {
        rate(Number(key));
      } else if (key === "j") {
        go(here() + 1);
      } else if (key === "k") {
        go(here() - 1);
      } else if (key === "s") {
        skip?.click();
      } else {
        return;
      }
      event.preventDefault();
    },
    { signal: leaving.signal },
  );
}
