// The view of the text browser: text with links as 【id†text†domain】.

import { make } from "./progress.js";

const WIDTH = 73; // characters of a line of the text browser
const FIRST_WORD = /^(?:【[^】]*】|\S)+/;
const ITEM = /^\s*(?:[*#>|+-]|\d+\.|【[^】]*】$)/; // begins a line of its own
const MARK = /【(\d+)†([^†】]*)(?:†([^】]*))?】/g;

/** Show marked text in `container`; each link is made by `link`, from its id, text and domain. */
export function showText(container, text, link) {
  const parts = [];
  let end = 0;
  const flowing = unbroken(text);
  for (const mark of flowing.matchAll(MARK)) {
    parts.push(flowing.slice(end, mark.index), link(Number(mark[1]), mark[2], mark[3] ?? ""));
    end = mark.index + mark[0].length;
  }
  container.replaceChildren(...parts, flowing.slice(end));
  container.scrollTop = 0;
}

/** The text without the line breaks of wrapping, for screens of any width. */
function unbroken(text) {
  const lines = text.split("\n");
  return lines.reduce((before, line, index) => {
    const last = lines[index - 1];
    const word = FIRST_WORD.exec(line)?.[0] ?? "";
    const isBroken = last && word && !ITEM.test(line) && last.length + 1 + word.length > WIDTH;
    return before + (isBroken ? " " : "\n") + line;
  });
}

/** Mark words of the text in `container`, ignoring case and white space; nothing if they are missing. */
export function markWords(container, words) {
  globalThis.CSS?.highlights?.delete("quoted");
  const wanted = words.replace(/\s+/g, "").toLowerCase();
  if (!wanted || !globalThis.CSS?.highlights) {
    return;
  }
  const letters = [];
  const nodes = document.createTreeWalker(container, NodeFilter.SHOW_TEXT);
  for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
    for (let at = 0; at < node.data.length; at += 1) {
      if (node.data[at].trim()) {
        letters.push([node, at]);
      }
    }
  }
  // Fold each letter by itself, to keep positions.
  const text = letters.map(([node, at]) => node.data[at].toLowerCase()[0]).join("");
  const begin = text.indexOf(wanted);
  if (begin >= 0) {
    const range = document.createRange();
    range.setStart(...letters[begin]);
    const [node, at] = letters[begin + wanted.length - 1];
    range.setEnd(node, at + 1);
    CSS.highlights.set("quoted", new Highlight(range));
  }
}

/** Show quotes as a list of cards. */
export function showQuotes(list, quotes) {
  list.replaceChildren(
    ...quotes.map((quote, index) => {
      const card = make("li", "card");
      const words = make("blockquote", "", quote.text);
      const from = make("p", "about");
      from.append(make("span", "number", String(index + 1)), quote.title);
      if (quote.domain) {
        from.append(make("span", "site", quote.domain));
      }
      for (const part of [words, from]) {
        part.dir = "auto";
      }
      card.append(from, words);
      return card;
    }),
  );
}

/** The position of the view in its page. */
export function linesOf({ first, last, lines }) {
  if (!last) {
    return "";
  }
  return lines ? `Lines ${first + 1} to ${last} of ${lines}` : `Lines ${first + 1} to ${last}`;
}
