// Following a question from its form to its answer.

import { follow } from "./events.js";
import { Progress } from "./progress.js";
import { problemOf, troubleOf } from "./service.js";

/**
 * Ask with a form, show the progress, and arrive at the address of the answer. `begin` sends the question. A
 * follow-up question has a place, below the answer that it follows; others replace what is shown.
 */
export async function work({ root, form, question, begin, arrive, place = null }) {
  const field = form.querySelector("textarea");
  const asking = form.querySelector("[type=submit]");
  const stop = form.querySelector(".stop");
  const problem = root.querySelector("#problem");
  const leaving = new AbortController();
  problem.textContent = "";
  root.querySelector("#hero")?.remove();
  stop.hidden = false;
  if (document.activeElement === asking) {
    stop.focus();
  }
  asking.hidden = true;
  stop.onclick = () => leaving.abort();
  moveProgress(root, (parts) => (place ? form.after(...parts) : root.querySelector("#result").before(...parts)));
  const progress = new Progress(question, place ?? root.querySelector("#result"), place ? "h2" : "h1");
  try {
    const answer = await answered(begin, progress, leaving.signal);
    if (answer) {
      moveProgress(root, (parts) => root.querySelector("#result").before(...parts)); // which is replaced
      field.value = "";
      const address = place ? `/threads/${answer.thread}` : `/answers/${answer.id}`;
      await arrive(address);
      progress.end();
      progress.say(summaryOf(answer));
      if (place) {
        root.querySelector("#asked").focus({ preventScroll: true });
        root.querySelector("#asked").scrollIntoView();
      }
    }
  } catch (error) {
    progress.end();
    (place ?? root.querySelector("#result")).replaceChildren();
    problem.textContent = leaving.signal.aborted ? "Stopped." : error.message;
  } finally {
    asking.hidden = false;
    if (document.activeElement === stop) {
      (place ? field : (root.querySelector("#asked") ?? field)).focus();
    }
    stop.hidden = true;
  }
}

/** Move the progress of a question to another place. */
function moveProgress(root, put) {
  put(["#status", "#problem", "#progress"].map((name) => root.querySelector(name)));
}

async function answered(begin, progress, signal) {
  const response = await begin(signal).catch((error) => {
    throw new Error(troubleOf(error));
  });
  if (!response.ok) {
    throw new Error(await problemOf(response));
  }
  for await (const event of follow(response, signal)) {
    if (event.name === "done") {
      return event.data;
    }
    if (event.name === "error") {
      throw new Error(event.data.detail);
    }
    progress.show(event);
  }
  return null;
}

function summaryOf({ outcome, sentences, fallback }) {
  if (fallback === "unsupported" && outcome === "answered") {
    return "The sources do not support what the model wrote, so the answer is quotations.";
  }
  if (outcome !== "answered") {
    return "No evidence was found.";
  }
  const doubtful = sentences.filter((sentence) => !sentence.supported).length;
  const count = `${sentences.length} ${sentences.length === 1 ? "sentence" : "sentences"}`;
  return `Answered in ${count}, ${doubtful ? `${doubtful} not supported` : "all supported"}.`;
}
