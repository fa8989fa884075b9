// The entry point of every page. The service renders pages; scripts fetch them with the key and insert them.

import { moveTo } from "./address.js";
import { prepareAnswer } from "./answer.js";
import { prepareAdding } from "./add.js";
import { prepareAsking, prepareShortcuts } from "./ask.js";
import { prepareCollection } from "./collection.js";
import { prepareFreshPair } from "./compare.js";
import { prepareDemonstrate } from "./demonstrate.js";
import { prepareHistory } from "./history.js";
import { prepareJudging } from "./judging.js";
import { prepareOtherKey, prepareSources, watchJobs } from "./sources.js";
import { currentKey, keepToken, request, showKey } from "./service.js";
import { prepareThread } from "./thread.js";
import { prepareSettings } from "./settings.js";
import { showLastQuestions } from "./start.js";
import { prepareTrace } from "./trace.js";
import { translate } from "./language.js";
import { localTimes } from "./times.js";

/** Fetch a page with the key. The service has escaped its content. */
async function fetched(address) {
  const response = await request(address, { headers: { Accept: "text/html" } });
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

/** Replace a part of this page by the same part of another page. */
function take(page, selector) {
  const part = document.adoptNode(page.querySelector(selector));
  document.querySelector(selector).replaceWith(part);
  document.title = page.title;
  return part;
}

/** Reload this page. */
async function refresh() {
  const page = await fetched(location.href);
  take(page, ".top nav");
  prepare(take(page, "#main"));
  const place = location.hash.slice(1);
  if (place) {
    document.getElementById(place)?.scrollIntoView();
  }
}

/** Reload the list of documents and their number, but keep the form beside it. */
async function refreshDocuments() {
  const page = await fetched(location.href);
  take(page, "#holds");
  take(page, "#documents");
  prepareCollection(document, refresh);
}

/** Reload the lists of this page, but keep the input of forms. */
async function refreshLists() {
  const page = await fetched(location.href);
  for (const list of ["#collections", "#jobs"]) {
    if (page.querySelector(list)) {
      localTimes(take(page, list));
    }
  }
  watchJobs(refreshLists);
}

/** Show a finished answer at its own address. */
async function arrive(address) {
  const page = await fetched(address);
  moveTo(address);
  const result = take(page, "#result");
  prepareAnswer(result);
  prepareThread(result, arrive);
  localTimes(result);
}

function prepare(main) {
  showKey();
  document.querySelector(".top [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  localTimes(main);
  prepareAsking(main, arrive);
  showLastQuestions(main);
  prepareAnswer(main);
  prepareThread(main, arrive);
  prepareHistory(main, refresh);
  prepareSettings(main);
  prepareJudging(main, refresh);
  prepareFreshPair(main, refresh);
  prepareSources(main, refreshLists);
  prepareCollection(main, refresh);
  if (!main.querySelector("#ask")) {
    prepareAdding(main, main.querySelector("#documents") ? refreshDocuments : refreshLists);
  }
  prepareOtherKey(main, refresh);
  prepareDemonstrate(main);
  prepareTrace(main);
}

// An address with the token, pasted into a tab that shows the page already, loads nothing by itself.
addEventListener("hashchange", () => {
  if (keepToken()) {
    location.reload();
  }
});
keepToken();
translate();
prepareShortcuts();
prepare(document.getElementById("main"));
// A browser opens an address without the key, so that the service may have left something out.
const lacks = currentKey() ? "[data-needs-key], [data-by-rights]" : '[data-needs-key="401"]';
if (document.querySelector(lacks)) {
  await refresh();
}
