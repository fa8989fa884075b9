// A way to ask: a form, what its questions are sent with, and where their progress stands.

import { post } from "./service.js";
import { work } from "./working.js";

export class Asker {
  #root;
  #form;
  #field;
  #options;
  #arrive;
  #place;

  /**
   * `options` gives what is sent with a question, and `arrive` shows the answer at an address. Progress stands
   * in `place`, below the answer that a question follows, or else replaces what is shown.
   */
  constructor({ root, form, options, arrive, place = null }) {
    this.#root = root;
    this.#form = form;
    this.#field = form.querySelector("textarea");
    this.#options = options;
    this.#arrive = arrive;
    this.#place = place;
  }

  /** Ask a question; `more` adds to what is sent with it. */
  ask(question, more = {}) {
    const headers = { Accept: "text/event-stream" };
    const asked = { question, ...this.#options(), ...more };
    return this.follow(question, (signal) => post("/v1/answers", asked, { headers, signal }));
  }

  /** Follow the question that `begin` sends. */
  follow(question, begin) {
    const again = (article) => this.prepareAgain(article, question);
    const [root, form, arrive, place] = [this.#root, this.#form, this.#arrive, this.#place];
    return work({ root, form, question, begin, arrive, place, again });
  }

  /** Let the buttons of an answer ask its question again, as it was or changed. */
  prepareAgain(article, question) {
    const buttons = article.querySelector(".again");
    buttons.hidden = false;
    buttons.querySelector("[data-retry]").addEventListener("click", () => {
      if (!this.#form.querySelector("[type=submit]").hidden) {
        this.ask(question, { fresh: true });
      }
    });
    buttons.querySelector("[data-edit]").addEventListener("click", () => {
      this.#field.value = question;
      this.#field.focus();
      this.#field.setSelectionRange(question.length, question.length);
    });
  }
}
