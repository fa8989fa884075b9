// Answering a question with the text browser: each action is a command that the service runs.

import { make } from "./progress.js";
import { post, problemOf, request, troubleOf } from "./service.js";
import { linesOf, showQuotes, showText } from "./text_browser.js";

const OFF = "citewell-no-shortcuts";
const TYPING = "textarea, select, input:not([type=checkbox]), dialog";
const FIND = /^Find in page: (.*)/;
const KEYS = { j: "#down", k: "#up", t: "#top", b: "#back", q: "#quoting [type=submit]" };
const FIELDS = { s: "#query", f: "#wanted" };

/** Add the behavior of the demonstration pages. */
export function prepareDemonstrate(root) {
  const begin = root.querySelector("#begin-demonstration");
  if (begin) {
    prepareBeginning(begin);
  }
  const article = root.querySelector("#demonstration");
  if (article) {
    new Demonstration(article).load();
  }
}

function prepareBeginning(form) {
  const problem = form.querySelector("#problem");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { question, collection, reference } = Object.fromEntries(new FormData(form));
    problem.textContent = "";
    const asked = { question: question.trim(), reference: reference.trim(), ...(collection && { collection }) };
    const begun = await withProblem(() => post("/v1/demonstrations", asked), problem);
    if (begun) {
      location.assign(`/demonstrate/${encodeURIComponent(begun.id)}`);
    }
  });
}

/** The reply of the service, or null after an error, which is shown in `problem`. */
async function withProblem(send, problem) {
  try {
    const response = await send();
    if (response.ok) {
      return await response.json();
    }
    problem.textContent = await problemOf(response);
  } catch (error) {
    problem.textContent = troubleOf(error);
  }
  return null;
}

class Demonstration {
  #article;
  #address;
  #now = null;
  #isBusy = false;

  constructor(article) {
    this.#article = article;
    this.#address = `/v1/demonstrations/${encodeURIComponent(article.dataset.demonstration)}`;
    for (const button of article.querySelectorAll("[data-command]")) {
      button.addEventListener("click", () => this.#act(button.dataset.command));
    }
    this.#onSubmit("#search", () => this.#act(`Search ${this.#words("#query")}`));
    this.#onSubmit("#find", () => this.#act(`Find in page: ${this.#words("#wanted")}`));
    this.#onSubmit("#quoting", () => this.#act(`Quote: ${this.#words("#quoted")}`));
    this.#onSubmit("#answering", () => this.#submit());
    this.#prepareSelecting();
    this.#prepareShortcuts();
    this.#prepareDraft();
  }

  /** Take the demonstration up where it stands. */
  async load() {
    const now = await withProblem(() => request(this.#address), this.#find("#problem"));
    if (now) {
      this.#show(now);
    }
  }

  #find(selector) {
    return this.#article.querySelector(selector);
  }

  /** What a field says, on one line as commands are. */
  #words(selector) {
    return this.#find(selector).value.replace(/\s+/g, " ").trim();
  }

  #onSubmit(selector, act) {
    this.#find(selector).addEventListener("submit", (event) => {
      event.preventDefault();
      act();
    });
  }

  async #act(command) {
    if (this.#isBusy || this.#now?.status !== "browsing") {
      return;
    }
    this.#isBusy = true;
    this.#article.setAttribute("aria-busy", "true");
    this.#find("#problem").textContent = "";
    const sent = { command, after: this.#now.count };
    const focused = document.activeElement;
    const now = await withProblem(() => post(`${this.#address}/actions`, sent), this.#find("#problem"));
    this.#article.removeAttribute("aria-busy");
    this.#isBusy = false;
    if (now) {
      this.#show(now);
      this.#follow(now, command, focused);
    }
  }

  /** Say what an action did, and put the focus where the next one begins. */
  #follow(now, command, focused) {
    const { last, view, quotes } = now;
    const found = FIND.exec(command)?.[1].toLowerCase();
    const shown = this.#find("#text").textContent.replace(/\s+/g, " ").toLowerCase();
    let said = "";
    if (found && !shown.includes(found)) {
      said = "No quote: the text is not on the page.";
    } else if (!last.valid) {
      said = `Invalid action: ${last.reason}.`;
    } else if (now.status !== "browsing") {
      said = "Browsing has ended.";
    } else if (command.startsWith("Quote: ")) {
      said = `Quoted as number ${quotes.length}.`;
      this.#find("#quoted").value = "";
    }
    this.#find("#status").textContent = said;
    this.#find("#where").textContent = said ? "" : [view.title, linesOf(view)].filter(Boolean).join(". ");
    if (now.status !== "browsing") {
      this.#find("#answering").querySelector("textarea:not(:disabled), [type=submit]").focus();
    } else if (!focused?.isConnected || focused.disabled || command.startsWith("Search ")) {
      this.#find("#text").focus();
    }
  }

  #show(now) {
    this.#now = now;
    const { status, view, quotes } = now;
    const browses = status === "browsing";
    for (const part of ["#window", "#left", "#quoting", "#ending", "#shortcuts"]) {
      this.#find(part).hidden = !browses;
    }
    const left = now.actions_left;
    this.#find("#left").textContent = `${left} ${left === 1 ? "action" : "actions"} left`;
    this.#find("#page-title").textContent = view.title || "No page is open yet";
    this.#find("#lines").textContent = linesOf(view);
    showText(this.#find("#text"), view.text, (id, text, domain) => this.#link(id, text, domain));
    this.#find("#back").disabled = !view.can_go_back;
    this.#find("#up").disabled = this.#find("#top").disabled = view.first === 0;
    this.#find("#down").disabled = view.last >= view.lines;
    this.#find("#end").disabled = quotes.length === 0;
    this.#find("#no-quotes").hidden = quotes.length > 0;
    showQuotes(this.#find("#quotes"), quotes);
    this.#find("#answering").hidden = status !== "answering";
    if (status === "answering") {
      this.#showAnswering(now);
    } else if (status === "submitted") {
      location.replace(`/trace/${encodeURIComponent(now.id)}`);
    }
  }

  #showAnswering({ ending, quotes }) {
    const writes = quotes.length > 0 && ending !== "Nonsense" && ending !== "Controversial";
    const none = this.#find("#unanswered");
    this.#find("#written").hidden = none.hidden = !writes;
    none.hidden = writes;
    this.#find("#answer").disabled = !writes;
    none.textContent =
      quotes.length > 0
        ? "You ended browsing without an answer."
        : "No answer, since there are no quotes.";
    this.#find("#citing").replaceChildren(
      ...quotes.map(({ number }) => {
        const button = make("button", "", `[${number}]`);
        button.type = "button";
        button.setAttribute("aria-label", `Cite quote ${number}`);
        button.addEventListener("click", () => this.#cite(number));
        return button;
      }),
    );
  }

  #cite(number) {
    const field = this.#find("#answer");
    const follows = /[^\s\]]$/.test(field.value.slice(0, field.selectionStart)); // a word, not another number
    field.setRangeText(`${follows ? " " : ""}[${number}]`, field.selectionStart, field.selectionEnd, "end");
    field.dispatchEvent(new Event("input"));
    field.focus();
  }

  #link(id, text, domain) {
    const link = make("a", "page-link", text || domain || `Link ${id}`);
    link.href = "#text";
    link.draggable = false;
    if (domain) {
      link.dataset.domain = domain; // shown by the style, so that what is selected is the page's text alone
    }
    link.addEventListener("click", (event) => {
      event.preventDefault();
      this.#act(`Clicked on link ${id}`);
    });
    return link;
  }

  async #submit() {
    if (this.#isBusy) {
      return;
    }
    this.#isBusy = true;
    this.#find("#problem").textContent = "";
    const field = this.#find("#answer");
    const answer = field.disabled ? "" : field.value.trim();
    const done = await withProblem(() => post(`${this.#address}/submission`, { answer }), this.#find("#problem"));
    this.#isBusy = false;
    if (done) {
      sessionStorage.removeItem(this.#draft);
      location.assign(`/trace/${encodeURIComponent(done.id)}`);
    }
  }

  get #draft() {
    return `citewell-draft-${this.#article.dataset.demonstration}`;
  }

  /** An answer that is being written outlives a page that is loaded again. */
  #prepareDraft() {
    const field = this.#find("#answer");
    field.value = sessionStorage.getItem(this.#draft) ?? "";
    field.addEventListener("input", () => sessionStorage.setItem(this.#draft, field.value));
  }

  /** What is selected in the page stands in the field for a quote. */
  #prepareSelecting() {
    const text = this.#find("#text");
    const leaving = new AbortController();
    document.addEventListener(
      "selectionchange",
      () => {
        if (!text.isConnected) {
          leaving.abort();
          return;
        }
        const chosen = getSelection();
        if (chosen.rangeCount && text.contains(chosen.getRangeAt(0).commonAncestorContainer)) {
          const words = chosen.toString().replace(/\s+/g, " ").trim();
          if (words) {
            this.#find("#quoted").value = words;
          }
        }
      },
      { signal: leaving.signal },
    );
  }

  #prepareShortcuts() {
    const use = this.#find("#use-shortcuts");
    use.checked = sessionStorage.getItem(OFF) === null;
    use.addEventListener("change", () => {
      if (use.checked) {
        sessionStorage.removeItem(OFF);
      } else {
        sessionStorage.setItem(OFF, "1");
      }
    });
    const leaving = new AbortController();
    document.addEventListener(
      "keydown",
      (event) => {
        if (!this.#article.isConnected) {
          leaving.abort();
          return;
        }
        const isOff = !use.checked || event.ctrlKey || event.altKey || event.metaKey || event.isComposing;
        if (isOff || event.target.closest?.(TYPING)) {
          return;
        }
        const key = event.key.toLowerCase();
        if (KEYS[key]) {
          this.#find(KEYS[key]).click();
        } else if (FIELDS[key]) {
          this.#find(FIELDS[key]).focus();
        } else {
          return;
        }
        event.preventDefault();
      },
      { signal: leaving.signal },
    );
  }
}
