// The words of the pages in the reader's language. What people, pages and models wrote has `dir`, and stays.

import { GERMAN } from "./german.js";

const WRITTEN = "[dir], pre, code, script, textarea, .notice";
const OURS = ".flag";
const NAMED = ["placeholder", "aria-label"];

/** Whether an element has words of the pages, rather than of what is shown on them. */
function isOurs(element) {
  const nearest = element?.closest(`${WRITTEN}, ${OURS}`);
  return !nearest || nearest.matches(OURS);
}

/** A translation whose stars stand for what those of the English words stand for. */
function numbered(words) {
  let count = 0;
  return words.replaceAll("*", () => `$${(count += 1)}`);
}

function escaped(text) {
  return text.replace(/[.?()+^$|[\]{}\\]/g, "\\$&");
}

/** What English words with stars match; a star that they begin with is a number, and others are any words. */
function patternOf(words) {
  const [first, ...rest] = words.split("*").map(escaped);
  return new RegExp(`^${first}${first ? "(.+?)" : "([\\d.,]+)"}${rest.join("(.+?)")}$`);
}

/** Translate the page, now and as it changes; a text that has no translation stays English. */
export function translate() {
  const words = { de: GERMAN }[document.documentElement.dataset.language];
  if (!words) {
    return;
  }
  const patterns = Object.keys(words)
    .filter((key) => key.includes("*"))
    .map((key) => [patternOf(key), words[key]]);
  const said = (text) => {
    const key = text.trim();
    const exact = Object.hasOwn(words, key) && [key, words[key]];
    const [pattern, found] = exact || patterns.find(([each]) => each.test(key)) || [];
    return found && text.replace(key, () => key.replace(pattern, numbered(found)));
  };
  const change = (root) => {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let text = texts.currentNode; text; text = texts.nextNode()) {
      const found = text.nodeType === Node.TEXT_NODE && isOurs(text.parentElement) && said(text.data);
      if (found && found !== text.data) {
        text.data = found; // the observer below hears of it
      }
    }
    for (const name of NAMED) {
      for (const element of root.querySelectorAll?.(`[${name}]`) ?? []) {
        const found = said(element.getAttribute(name));
        if (found) {
          element.setAttribute(name, found);
        }
      }
    }
  };
  change(document.body);
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes) {
      (addedNodes.length ? addedNodes : [target]).forEach(change);
    }
  }).observe(document.body, { childList: true, characterData: true, subtree: true });
}
