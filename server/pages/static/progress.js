// The progress of a question: its stages, the pages that were read, and the draft.

const ORDER = ["search", "read", "choose", "write", "check"];
const WORDS = {
  search: "Searching…",
  read: "Reading pages…",
  choose: "Choosing passages…",
  write: "Writing…",
  check: "Checking citations…",
};

export class Progress {
  #box = document.getElementById("progress");
  #status = document.getElementById("status");
  #pages = { hits: 0, read: 0, failed: 0 };
  #draft = null;
  #article = null;

  /** Begin to show the progress of a question; the draft replaces the content of `place`. */
  constructor(question, place, level) {
    for (const stage of this.#box.querySelectorAll("[data-stage]")) {
      stage.dataset.state = "ahead";
      stage.querySelector(".count").textContent = "";
    }
    this.#list.replaceChildren();
    this.#box.hidden = false;
    const article = make("article", "answer draft");
    article.setAttribute("aria-busy", "true");
    this.#article = article;
    const heading = make(level, "asked", question);
    heading.dir = "auto";
    this.#draft = make("p", "prose");
    this.#draft.dir = "auto";
    article.append(heading, this.#draft);
    place.replaceChildren(article);
    this.say("Sending the question…");
  }

  get #list() {
    return this.#box.querySelector(".pages");
  }

  /** Show one event of the stream. */
  show({ name, data }) {
    if (name === "queued") {
      this.say(`Waiting for ${data.ahead} ${data.ahead === 1 ? "question" : "questions"}…`);
    } else if (name === "searching") {
      this.#enter("search");
    } else if (name === "rewritten") {
      this.#draft.before(make("p", "about", `Answered as: ${data.question}`));
    } else if (name === "searched") {
      this.#pages.hits = data.hits.length;
      this.#count("search", `${data.hits.length} found`);
      this.#enter("read");
    } else if (name === "browsed") {
      this.#enter("read");
      this.#page(data.valid ? "read" : "failed", data.command, data.valid ? data.title : data.reason);
      this.#count("read", `${data.actions_left} actions left`);
    } else if (name === "fetched") {
      this.#pages.read += 1;
      this.#page("read", data.title || data.url, host(data.url));
    } else if (name === "failed") {
      this.#pages.failed += 1;
      this.#page("failed", host(data.url) || data.url, data.reason);
    } else if (name === "ranked") {
      this.#enter("write");
      this.#count("choose", `${data.references.length} passages`);
    } else if (name === "notice") {
      this.#page("notice", data.text, "");
    } else if (name === "quoted") {
      this.#quote(data.sentences);
    } else if (name === "token" && data.candidate === 0) {
      this.#enter("write");
      this.#draft.append(data.text);
    } else if (name === "scored") {
      this.#enter("check");
    }
  }

  /** Show quotations above the draft, until the finished answer replaces both. */
  #quote(sentences) {
    if (!sentences.length) {
      return;
    }
    const section = make("section", "quotations");
    section.append(make("h2", "", "Quotations, while the answer is written"));
    for (const { text, citations } of sentences) {
      const quotation = make("blockquote", "", text);
      quotation.dir = "auto";
      quotation.append(make("span", "about", ` ${citations.map((number) => `[${number}]`).join("")}`));
      section.append(quotation);
    }
    this.#draft.before(section);
    this.say(`${sentences.length} ${sentences.length === 1 ? "quotation" : "quotations"}. ${WORDS.write}`);
  }

  /** Show the current status; screen readers announce it. */
  say(text) {
    if (this.#status.textContent !== text) {
      this.#status.textContent = text;
    }
  }

  /** Keep what was written, with buttons to ask again, below a question without an answer; returns its element. */
  keep(stopped) {
    this.#article.removeAttribute("aria-busy");
    if (this.#draft.textContent.trim()) {
      this.#article.append(make("p", "note", "What was written so far is not checked."));
    }
    const quotations = this.#article.querySelector(".quotations h2");
    if (quotations) {
      quotations.textContent = "Quotations";
    }
    this.say(stopped ? "Stopped." : "");
    this.#article.append(document.getElementById("again").content.cloneNode(true));
    return this.#article;
  }

  /** Hide the progress. */
  end() {
    this.#box.hidden = true;
    this.say("");
  }

  #enter(stage) {
    const position = ORDER.indexOf(stage);
    for (const item of this.#box.querySelectorAll("[data-stage]")) {
      const own = ORDER.indexOf(item.dataset.stage);
      item.dataset.state = own < position ? "done" : own === position ? "now" : "ahead";
    }
    this.say(WORDS[stage]);
  }

  #count(stage, text) {
    this.#box.querySelector(`[data-stage="${stage}"] .count`).textContent = text;
  }

  #page(kind, title, about) {
    const item = make("li", kind);
    const named = make("span", "title", title);
    named.dir = "auto";
    item.append(make("span", "hidden-words", kind === "failed" ? "Failed: " : ""), named, " ");
    item.append(make("span", "about", about));
    this.#list.append(item);
    const { hits, read, failed } = this.#pages;
    this.#count("read", failed ? `${read} of ${hits}, ${failed} failed` : `${read} of ${hits}`);
  }
}

/** A new element with a class and literal text. */
export function make(tag, kind, text = "") {
  const element = document.createElement(tag);
  if (kind) {
    element.className = kind;
  }
  element.textContent = text;
  return element;
}

function host(url) {
  if (!URL.canParse(url)) {
    return url;
  }
  const { protocol, hostname, pathname } = new URL(url);
  return protocol.startsWith("http") ? hostname.replace(/^www\./, "") : decodeName(pathname);
}

function decodeName(path) {
  const name = path.split("/").pop();
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
