// Comparing two answers or ranking several, by mouse or keyboard, and creating new pairs.

import { post, problemOf, troubleOf } from "./service.js";

const OFF = "citewell-no-shortcuts";
const TYPING = "textarea, select, input:not([type=radio], [type=checkbox]), dialog";

/** Add the behavior of the comparison page; `refresh` reloads it. */
export function prepareCompare(root, refresh) {
  const form = root.querySelector("#compare");
  if (form) {
    prepareForm(form, refresh, root.querySelectorAll("[data-flag]"));
    prepareShortcuts(form, root.querySelector("#skip-pair"));
  }
  prepareFreshPair(root.querySelector("#fresh-pair"), refresh);
}

/** Reload the page at its own address, without the skipped pair. */
async function next(refresh, said) {
  history.replaceState(null, "", "/compare");
  await refresh();
  document.getElementById("status").textContent = said;
  document.getElementById("compared-question").focus();
}

function prepareForm(form, refresh, flags) {
  const problem = form.querySelector("#compare-problem");
  async function store(button, opinion) {
    button.disabled = true;
    problem.textContent = "";
    try {
      const response = await post(form.dataset.address, opinion);
      if (response.ok) {
        await next(refresh, "Thank you. Saved.");
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
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    store(form.querySelector("[type=submit]"), opinionOf(form));
  });
  for (const button of flags) {
    button.addEventListener("click", () => store(button, { ...partsOf(form), flag: button.dataset.flag }));
  }
}

/** The common part of opinions: question, answers and comment. */
function partsOf(form) {
  const { question, answers } = form.dataset;
  return {
    question: JSON.parse(question),
    answers: JSON.parse(answers).map((id) => ({ answer_id: id })),
    comment: form.elements.comment.value,
  };
}

/** Add the ratings of sources and sentences, with names such as `A.trust.1`, to their answers. */
function judge(answers, levels) {
  for (const [name, level] of levels) {
    const [letter, part, number] = name.split(".");
    const answer = answers["AB".indexOf(letter)];
    if (part === "trust") {
      (answer.trust ??= []).push({ reference: Number(number), trust: level });
      continue;
    }
    const claims = (answer.claims ??= []);
    let claim = claims.find(({ sentence }) => sentence === Number(number));
    if (!claim) {
      claim = { sentence: Number(number) };
      claims.push(claim);
    }
    claim[part] = level;
  }
}

/** The request: the ratings by name, or the ranks in the order of the answers. */
function opinionOf(form) {
  const opinion = partsOf(form);
  const chosen = [...new FormData(form)].filter(([name, value]) => name !== "comment" && value !== "");
  judge(opinion.answers, chosen.filter(([name]) => name.includes(".")));
  const numbers = chosen.filter(([name]) => !name.includes(".")).map(([name, value]) => [name, Number(value)]);
  if (form.dataset.address.endsWith("rankings")) {
    return { ...opinion, ranks: numbers.map(([, rank]) => rank) };
  }
  return { ...opinion, ...Object.fromEntries(numbers) };
}

function prepareShortcuts(form, skip) {
  const scales = [...form.querySelectorAll(".scale")];
  const stops = [...scales, form.querySelector("[type=submit]")];
  const use = form.querySelector("#use-shortcuts");
  use.checked = sessionStorage.getItem(OFF) === null;
  use.addEventListener("change", () => {
    if (use.checked) {
      sessionStorage.removeItem(OFF);
    } else {
      sessionStorage.setItem(OFF, "1");
    }
  });

  const chosen = (scale) => scale.querySelector(":checked");
  const here = () => stops.findIndex((stop) => stop.contains(document.activeElement));
  function go(index) {
    const stop = stops[Math.min(Math.max(index, 0), stops.length - 1)];
    stop.closest(".ranked")?.scrollIntoView({ block: "nearest" });
    (stop.matches(".scale") ? (chosen(stop) ?? stop.querySelector("input")) : stop).focus();
  }
  function rate(number) {
    const at = here();
    const index = scales[at] ? at : scales.findIndex((scale) => !chosen(scale));
    const level = scales[index]?.querySelectorAll("input")[number - 1];
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
        leaving.abort(); // another pair has its own
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

function prepareFreshPair(form, refresh) {
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    const status = form.querySelector("#fresh-status");
    const problem = form.querySelector("#problem");
    const { question, way } = Object.fromEntries(new FormData(form));
    button.disabled = true;
    problem.textContent = "";
    try {
      const answers = [];
      for (const options of [{}, JSON.parse(way)]) {
        status.textContent = `Answering, ${answers.length + 1} of 2…`;
        answers.push(await answered({ question: question.trim(), fresh: true, ...options }));
      }
      if (answers.some(({ outcome }) => outcome !== "answered")) {
        throw new Error("No evidence was found.");
      }
      if (answers[0].answer === answers[1].answer) {
        throw new Error("Both answers are the same. Try another question or option.");
      }
      await next(refresh, "New pair created.");
    } catch (error) {
      status.textContent = "";
      problem.textContent = error.message;
    } finally {
      button.disabled = false;
    }
  });
}

async function answered(asked) {
  const response = await post("/v1/answers", asked).catch((error) => {
    throw new Error(troubleOf(error));
  });
  if (!response.ok) {
    throw new Error(await problemOf(response));
  }
  return response.json();
}
