// Replaying an episode of the text browser: the state and the command of each step.

import { make } from "./progress.js";
import { problemOf, request, troubleOf } from "./service.js";
import { linesOf, markWords, showQuotes, showText } from "./text_browser.js";

const EVERY = 1500; // milliseconds between two steps that are played
const HEADING = /^♦(Question|Quotes|Past actions|Title|Scrollbar: (\d+) - (\d+)|Text|Actions left: (\d+)|Next action)$/;

/** Add the behavior of the page that replays episodes. */
export function prepareTrace(root) {
  const article = root.querySelector("#trace");
  if (!article) {
    return;
  }
  const trace = new Trace(root, article);
  prepareFile(root, trace);
  if (article.dataset.address) {
    load(article.dataset.address, root, trace);
  }
}

async function load(address, root, trace) {
  const problem = root.querySelector("#problem");
  try {
    const response = await request(address);
    if (response.ok) {
      trace.show(await response.json());
    } else {
      problem.textContent = await problemOf(response);
    }
  } catch (error) {
    problem.textContent = troubleOf(error);
  }
}

function prepareFile(root, trace) {
  const form = root.querySelector("#episode-file");
  if (!form) {
    return;
  }
  const problem = root.querySelector("#problem");
  const list = form.querySelector("#episode");
  let episodes = [];
  form.addEventListener("submit", (event) => event.preventDefault());
  form.querySelector("#file").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (!file) {
      return;
    }
    problem.textContent = "";
    try {
      episodes = episodesOf(await file.text());
    } catch (error) {
      problem.textContent = error.message;
      return;
    }
    list.replaceChildren(
      ...episodes.map(({ question }, index) => {
        const option = make("option", "", `${index + 1}. ${question}`.slice(0, 120));
        option.value = String(index);
        return option;
      }),
    );
    form.querySelector("#several").hidden = episodes.length < 2;
    trace.show(episodes[0]);
  });
  list.addEventListener("change", () => trace.show(episodes[Number(list.value)]));
}

/** The episodes of a JSON Lines file. */
function episodesOf(text) {
  const episodes = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (!line.trim()) {
      continue;
    }
    let episode;
    try {
      episode = JSON.parse(line);
    } catch {
      throw new Error(`Line ${index + 1} of the file is not JSON.`);
    }
    if (typeof episode?.question !== "string" || !Array.isArray(episode.steps)) {
      throw new Error(`Line ${index + 1} of the file is not an episode: it lacks a question or steps.`);
    }
    episodes.push(episode);
  }
  if (!episodes.length) {
    throw new Error("The file contains no episodes.");
  }
  return episodes;
}

/** The parts of a state as text, in the layout of WebGPT's Figure 1 (b). */
function partsOf(state) {
  const parts = { title: "", text: "", first: 0, last: 0, left: 0 };
  let heading = "";
  const lines = { Title: [], Text: [] };
  for (const line of state.split("\n")) {
    const found = HEADING.exec(line);
    if (found) {
      heading = found[1];
      parts.first = found[2] ? Number(found[2]) : parts.first;
      parts.last = found[3] ? Number(found[3]) : parts.last;
      parts.left = found[4] ? Number(found[4]) : parts.left;
    } else {
      lines[heading]?.push(line);
    }
  }
  return { ...parts, title: lines.Title.join("\n"), text: lines.Text.join("\n") };
}

class Trace {
  #root;
  #article;
  #episode = null;
  #position = 0;
  #playing = null;

  constructor(root, article) {
    this.#root = root;
    this.#article = article;
    const on = (selector, name, act) => this.#find(selector).addEventListener(name, act);
    on("#previous", "click", () => this.#go(this.#position - 1));
    on("#next", "click", () => this.#go(this.#position + 1));
    on("#step", "input", (event) => this.#go(Number(event.target.value) - 1));
    on("#play", "click", () => (this.#playing === null ? this.#play() : this.#pause()));
  }

  /** Show an episode from its first step on. */
  show(episode) {
    this.#pause();
    this.#episode = episode;
    this.#article.hidden = false;
    this.#root.querySelector("#traced").textContent = episode.question;
    const about = [
      `By ${episode.policy || "an unknown policy"}`,
      count(episode.steps.length, "action"),
      count(episode.quotes?.length ?? 0, "quote"),
      `ended with ${episode.ending}`,
      ...(episode.seconds ? [`${episode.seconds.toFixed(episode.seconds < 10 ? 1 : 0)} s`] : []),
      ...(typeof episode.reward === "number" ? [`reward ${episode.reward}`] : []),
    ];
    this.#find("#episode-about").replaceChildren(...about.map((words) => make("span", "", words)));
    this.#find("#step").max = String(episode.steps.length + 1);
    this.#find("#steps").replaceChildren(
      ...[...episode.steps, null].map((step, index) => {
        const item = make("li");
        const button = make("button", step?.kind === "invalid" ? "invalid" : "", step?.command ?? "The answer");
        button.type = "button";
        button.dir = "auto";
        button.addEventListener("click", () => this.#go(index));
        item.append(button);
        return item;
      }),
    );
    this.#go(0);
  }

  #find(selector) {
    return this.#article.querySelector(selector);
  }

  #go(index) {
    const { steps } = this.#episode;
    this.#position = Math.min(Math.max(index, 0), steps.length);
    const isEnd = this.#position === steps.length;
    const words = isEnd ? `End, after ${count(steps.length, "action")}` : `Step ${this.#position + 1} of ${steps.length}`;
    this.#find("#step").value = String(this.#position + 1);
    this.#find("#step").setAttribute("aria-valuetext", words);
    this.#find("#step-label").textContent = words;
    this.#find("#previous").disabled = this.#position === 0;
    this.#find("#next").disabled = isEnd;
    for (const [at, button] of [...this.#find("#steps").querySelectorAll("button")].entries()) {
      if (at === this.#position) {
        button.setAttribute("aria-current", "step");
      } else {
        button.removeAttribute("aria-current");
      }
    }
    if (isEnd) {
      this.#pause();
      this.#showEnd();
    } else {
      this.#showStep(steps[this.#position]);
    }
  }

  #showStep(step) {
    const { title, text, first, last } = partsOf(step.state);
    this.#find("#page-title").textContent = title || "No page is open yet";
    this.#find("#lines").textContent = linesOf({ first, last });
    const clicked = /^Clicked on link (\d+)$/.exec(step.command.trim())?.[1];
    showText(this.#find("#text"), text, (id, words, domain) => {
      const link = make("span", "page-link", words || domain || `Link ${id}`);
      link.classList.toggle("chosen", String(id) === clicked);
      if (domain) {
        link.dataset.domain = domain;
      }
      return link;
    });
    const command = this.#find("#command");
    command.textContent = step.command;
    if (step.kind === "invalid") {
      command.append(make("span", "note", `Invalid: ${step.reason}.`));
    }
    const taken = this.#episode.steps.slice(0, this.#position).filter(({ kind }) => kind === "quote").length;
    const quotes = this.#episode.quotes ?? [];
    this.#showQuotes(quotes.slice(0, taken));
    markWords(this.#find("#text"), step.kind === "quote" ? (quotes[taken]?.text ?? "") : "");
  }

  #showEnd() {
    const { answer, ending, quotes } = this.#episode;
    this.#find("#page-title").textContent = "The answer";
    this.#find("#lines").textContent = "";
    this.#find("#text").textContent = answer || "No answer was written.";
    this.#find("#command").textContent = `End: ${ending}`;
    this.#showQuotes(quotes ?? []);
  }

  #showQuotes(quotes) {
    this.#find("#no-quotes").hidden = quotes.length > 0;
    showQuotes(this.#find("#quotes"), quotes);
  }

  #play() {
    if (this.#position === this.#episode.steps.length) {
      this.#go(0);
    }
    this.#playing = setInterval(() => this.#article.isConnected ? this.#go(this.#position + 1) : this.#pause(), EVERY);
    this.#showPlaying();
  }

  #pause() {
    clearInterval(this.#playing);
    this.#playing = null;
    this.#showPlaying();
  }

  #showPlaying() {
    const button = this.#find("#play");
    button.setAttribute("aria-pressed", String(this.#playing !== null));
    button.textContent = this.#playing === null ? "Play" : "Pause";
  }
}

function count(number, words) {
  return `${number} ${number === 1 ? words : `${words}s`}`;
}
