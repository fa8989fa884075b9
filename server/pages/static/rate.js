// Rating an answer and its references.

import { post, problemOf, troubleOf } from "./service.js";

/** Add the behavior of the rating page; `refresh` reloads it. */
export function prepareRate(root, refresh) {
  const form = root.querySelector("#rate");
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("[type=submit]");
    const problem = form.querySelector("#problem");
    const { answer, rater } = form.dataset;
    button.disabled = true;
    problem.textContent = "";
    try {
      const scores = scoresOf(form);
      const response = await post(`/v1/answers/${encodeURIComponent(answer)}/ratings`, { rater, ...scores });
      if (response.ok) {
        history.replaceState(null, "", `/rate?${new URLSearchParams({ rater })}`);
        await refresh();
        document.getElementById("status").textContent = "Thank you. Saved.";
        document.getElementById("rated-question").focus();
        return;
      }
      problem.textContent = await problemOf(response);
    } catch (error) {
      problem.textContent = troubleOf(error);
    } finally {
      button.disabled = false;
    }
    button.focus(); // a button that is disabled loses it
  });
}

/** The scores for the API: of the answer, and of each reference in order. */
function scoresOf(form) {
  const references = Array.from({ length: Number(form.dataset.references) }, () => ({}));
  const answer = {};
  for (const [name, value] of new FormData(form)) {
    const [part, scale] = name.split(".");
    if (value !== "") {
      (part === "answer" ? answer : references[Number(part)])[scale] = Number(value);
    }
  }
  return { answer, references };
}
