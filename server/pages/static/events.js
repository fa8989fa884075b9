// Server-sent events over fetch, which can send a body and a key; EventSource cannot.
// https://html.spec.whatwg.org/multipage/server-sent-events.html

import { request } from "./service.js";

const TRIES = 5;

/** The events of a reply: objects with `id`, `name` and `data`. */
async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      waiting += value;
      const blocks = waiting.split(/\r\n\r\n|\n\n|\r\r/);
      waiting = blocks.pop();
      for (const block of blocks) {
        const event = parse(block);
        if (event) {
          yield event;
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parse(block) {
  const event = { id: "", name: "", data: "" };
  for (const line of block.split(/\r\n|\n|\r/)) {
    const at = line.indexOf(":");
    const field = line.slice(0, at);
    const value = line.slice(at + 1).replace(/^ /, "");
    if (field === "id") event.id = value;
    else if (field === "event") event.name = value;
    else if (field === "data") event.data += value;
  }
  return event.name ? { ...event, data: JSON.parse(event.data) } : null;
}

/**
 * All events of a question to `done` or `error`, from the reply that began it. A stream that is cut off is
 * resumed where it ended.
 */
export async function* follow(response, signal) {
  const address = `${response.headers.get("Location")}/events`;
  let last = "";
  for (let tries = 0; ; tries += 1) {
    try {
      for await (const event of eventsOf(response)) {
        last = event.id || last;
        tries = 0;
        yield event;
        if (event.name === "done" || event.name === "error") {
          return;
        }
      }
    } catch (error) {
      if (signal.aborted) {
        throw error;
      }
    }
    if (tries >= TRIES) {
      throw new Error("The connection to the service was lost. The answer may be in the history.");
    }
    await new Promise((resume) => setTimeout(resume, 1000 * tries));
    const headers = { Accept: "text/event-stream", ...(last && { "Last-Event-ID": last }) };
    response = await request(address, { headers, signal }).catch(() => response);
  }
}
