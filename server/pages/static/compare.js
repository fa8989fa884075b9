// Creating a new pair of answers to compare.

import { goOn } from "./judging.js";
import { post, problemOf, troubleOf } from "./service.js";

/** Add the behavior of the form that answers a question twice; `refresh` reloads the page. */
export function prepareFreshPair(root, refresh) {
  const form = root.querySelector("#fresh-pair");
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
      await goOn(refresh, "/compare", "New pair created.");
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
