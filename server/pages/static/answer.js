// Actions on an answer: show the words that support a sentence, give feedback, and copy.

import { prepareExports } from "./export.js";
import { prepareIcons } from "./icons.js";
import { make } from "./progress.js";
import { showRelated } from "./related.js";
import { post, problemOf, troubleOf } from "./service.js";

const WORDS = "What supports it";
const HOVER = 120; // milliseconds; a pointer on its way to the passage crosses other citations

/** Add the behavior of an answer. */
export function prepareAnswer(root) {
  const article = root.querySelector(".answer[data-answer]");
  if (!article || article.dataset.status) {
    return;
  }
  const actions = article.querySelector(".actions");
  actions.hidden = false;
  const message = actions.querySelector(".message");
  const send = (opinion) => give(article.dataset.answer, opinion, message);
  prepareThumbs(actions, article.querySelector(".comment"), send);
  prepareCopying(article, message);
  prepareIcons(article);
  showRelated(article);
  prepareExports(actions, `/v1/answers/${encodeURIComponent(article.dataset.answer)}`, message);
  actions.querySelector("[data-print]").addEventListener("click", () => print());
  const panel = article.querySelector("#panel");
  if (panel) {
    preparePassages(article, panel, send);
  }
}

/** Store feedback; returns whether that succeeded. */
async function give(id, opinion, message) {
  try {
    const response = await post(`/v1/answers/${encodeURIComponent(id)}/feedback`, opinion);
    message.textContent = response.ok ? "Thank you. Saved." : await problemOf(response);
    return response.ok;
  } catch (error) {
    message.textContent = troubleOf(error);
    return false;
  }
}

function prepareThumbs(actions, comment, send) {
  const thumbs = [...actions.querySelectorAll("[data-thumb]")];
  for (const thumb of thumbs) {
    thumb.addEventListener("click", async () => {
      const isGiven = thumb.getAttribute("aria-pressed") === "true"; // pressed again, it is taken back
      if (await send({ thumb: isGiven ? 0 : Number(thumb.dataset.thumb) })) {
        thumbs.forEach((each) => each.setAttribute("aria-pressed", String(each === thumb && !isGiven)));
        comment.hidden = isGiven;
      }
    });
  }
  comment.addEventListener("submit", async (event) => {
    event.preventDefault();
    const words = comment.querySelector("textarea");
    if (words.value.trim() && (await send({ comment: words.value }))) {
      words.value = "";
      comment.hidden = true;
      thumbs.find((each) => each.getAttribute("aria-pressed") === "true")?.focus();
    }
  });
}

function prepareCopying(article, message) {
  const texts = [...article.querySelectorAll("[data-copied]")];
  texts.find((text) => text.dataset.copied === "link").textContent = article.querySelector(".permalink").href;
  for (const button of article.querySelectorAll("[data-copy]")) {
    const text = texts.find((each) => each.dataset.copied === button.dataset.copy);
    button.addEventListener("click", async () => {
      texts.forEach((each) => (each.hidden = true));
      try {
        await navigator.clipboard.writeText(text.textContent);
        message.textContent = "Copied.";
      } catch {
        // The clipboard is for pages of HTTPS and of this computer only.
        text.hidden = false;
        text.focus();
        getSelection().selectAllChildren(text);
        message.textContent = "Copy the text below.";
      }
    });
  }
}

function preparePassages(article, panel, send) {
  const body = panel.querySelector("#panel-body");
  const close = panel.querySelector("#panel-close");
  const title = panel.querySelector("#panel-title");
  const hint = [...body.childNodes];
  let opener = null;
  let timer = 0;
  panel.hidden = false;

  function open(link) {
    clearTimeout(timer);
    if (opener === link) {
      return;
    }
    shut();
    opener = link;
    const target = document.getElementById(link.hash.slice(1));
    const sentence = link.closest(".sentence");
    sentence.classList.add("active");
    link.classList.add("active");
    panel.classList.add("open");
    close.hidden = false;
    title.textContent = link.matches(".flag") ? "No source supports it" : WORDS;
    body.replaceChildren(...content(link, target, sentence, send));
    if (getComputedStyle(panel).position === "fixed") {
      sentence.scrollIntoView({ block: "nearest" }); // the panel covers a part of the page
    }
  }

  function shut() {
    article.querySelectorAll(".active").forEach((each) => each.classList.remove("active"));
    panel.classList.remove("open");
    close.hidden = true;
    title.textContent = WORDS;
    body.replaceChildren(...hint);
    opener = null;
  }

  for (const link of article.querySelectorAll(".citation, .flag")) {
    link.addEventListener("focus", () => open(link));
    link.addEventListener("pointerenter", (event) => {
      clearTimeout(timer);
      if (event.pointerType === "mouse") {
        timer = setTimeout(() => open(link), HOVER);
      }
    });
    link.addEventListener("pointerleave", () => clearTimeout(timer));
    link.addEventListener("click", (event) => {
      event.preventDefault();
      open(link);
      if (!event.detail) {
        panel.focus(); // it was the keyboard
      }
    });
  }

  function leave() {
    const before = opener;
    const inside = panel.contains(document.activeElement);
    shut();
    if (before && inside) {
      before.focus();
      shut();
    }
  }
  close.addEventListener("click", leave);
  article.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && opener) {
      leave();
    }
  });
}

/** The content of the panel for a citation, or for an unsupported sentence. */
function content(link, target, sentence, send) {
  const passage = document.createElement("div");
  passage.append(...[...target.cloneNode(true).childNodes].filter((node) => !node.matches?.(".claim")));
  const source = target.closest(".source");
  const parts = [];
  if (source) {
    const title = make("p", "panel-title");
    title.append(make("span", "number", link.textContent.replace(/\D/g, "")), " ");
    title.append(...source.querySelector("h3").cloneNode(true).childNodes);
    parts.push(title);
    const about = make("p", "about");
    for (const part of [source.querySelector(".site"), target.parentElement.querySelector(".section")]) {
      if (part) {
        about.append(part.cloneNode(true));
      }
    }
    parts.push(about);
  }
  return [...parts, passage, verdict(sentence, send)];
}

function verdict(sentence, send) {
  const number = Number(sentence.dataset.sentence);
  const line = make("p", "verdict");
  const button = make("button", "", "This sentence is not supported");
  button.type = "button";
  const done = () => line.replaceChildren(make("span", "reported-words", "You said: not supported."));
  button.addEventListener("click", async () => {
    button.disabled = true;
    if (await send({ sentence: number })) {
      sentence.classList.add("reported");
      done();
      line.closest(".panel")?.focus();
    }
    button.disabled = false;
  });
  line.append(button);
  if (sentence.classList.contains("reported")) {
    done();
  }
  return line;
}
