// Files of an answer or a conversation.

import { problemOf, request, troubleOf } from "./service.js";

/** Let the buttons with `data-export` save what is at `address` as a file of that format. */
export function prepareExports(root, address, message) {
  for (const button of root.querySelectorAll("[data-export]")) {
    button.addEventListener("click", async () => {
      const response = await done(request(`${address}/export?format=${button.dataset.export}`), message, "");
      if (response) {
        save(await response.blob(), /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition"))[1]);
      }
    });
  }
}

/** Say how a request ended; resolves to its reply if it succeeded. */
export async function done(sent, message, words) {
  try {
    const response = await sent;
    message.textContent = response.ok ? words : await problemOf(response);
    return response.ok ? response : null;
  } catch (error) {
    message.textContent = troubleOf(error);
    return null;
  }
}

/** Give a file to the reader; a link could not send the key. */
function save(content, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
