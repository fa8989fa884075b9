// Following a question from its form to its answer.

import { moveTo } from "./address.js";
import { follow } from "./events.js";
import { Progress } from "./progress.js";
import { leaveRelated } from "./related.js";
import { problemOf, request, troubleOf } from "./service.js";

/**
 * Ask with a form, show the progress, and arrive at the address of the answer. `begin` sends the question, and
 * `again` prepares the buttons below one that was stopped or has failed. A follow-up question has a place,
 * below the answer that it follows; others replace what is shown.
 */
export async function work({ root, form, question, begin, arrive, place, again }) {
  const field = form.querySelector("textarea");
  const asking = form.querySelector("[type=submit]");
  const stop = form.querySelector(".stop");
  const problem = root.querySelector("#problem");
  const line = new AbortController();
  problem.textContent = "";
  root.querySelector("#hero")?.remove();
  stop.hidden = false;
  if (document.activeElement === asking || root.querySelector("#result").contains(document.activeElement)) {
    stop.focus(); // also from a button of the answer, which goes
  }
  asking.hidden = true;
  moveProgress(root, (parts) => (place ? form.after(...parts) : root.querySelector("#result").before(...parts)));
  const progress = new Progress(question, place ?? root.querySelector("#result"), place ? "h2" : "h1");
  leaveRelated();
  const sent = begin(line.signal);
  let stopped = false;
  const stopping = new Promise((_, reject) => {
    stop.onclick = () => {
      stopped = true;
      reject(new Error("Stopped."));
      // A question that was sent and has no address yet is canceled when it has one.
      sent.then(cancel, () => {}).then(() => line.abort());
    };
  });
  try {
    if (!place) {
      // Reloading the page meanwhile shows the question again.
      sent.then((response) => stopped || moveTo(addressOf(response))).catch(() => {});
    }
    const answer = await Promise.race([answered(sent, progress, line.signal), stopping]);
    if (answer) {
      moveProgress(root, (parts) => root.querySelector("#result").before(...parts)); // which is replaced
      if (field.value.trim() === question) {
        field.value = ""; // and no next question that is being written
      }
      await arrive(place ? `/threads/${answer.thread}` : `/answers/${answer.id}`);
      progress.end();
      progress.say(summaryOf(answer));
      if (place) {
        root.querySelector("#asked").focus({ preventScroll: true });
        root.querySelector("#asked").scrollIntoView();
      }
    }
  } catch (error) {
    progress.end();
    again(progress.keep(stopped));
    problem.textContent = stopped ? "" : error.message;
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

/** The address of the answer that a reply begins, or of this page if it begins none. */
function addressOf(response) {
  return response.headers.get("Location")?.replace("/v1/", "/") ?? location.pathname;
}

/** Cancel the question of a reply. If another process works on it, the end of the stream does so seconds later. */
function cancel(response) {
  const address = response.headers.get("Location");
  if (address) {
    request(`${address}/cancel`, { method: "POST" }).catch(() => {});
  }
}

async function answered(sent, progress, signal) {
  const response = await sent.catch((error) => {
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
  if (fallback && outcome === "answered") {
    return "What the model wrote is not shown: the answer is quotations.";
  }
  if (outcome !== "answered") {
    return fallback ? "No sure answer was found." : "No evidence was found.";
  }
  const doubtful = sentences.filter((sentence) => !sentence.supported).length;
  const count = `${sentences.length} ${sentences.length === 1 ? "sentence" : "sentences"}`;
  return `Answered in ${count}, ${doubtful ? `${doubtful} not supported` : "all supported"}.`;
}
