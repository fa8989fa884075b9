// Requests to the service, with a key if one is required.
//
// The key is kept in sessionStorage: in this tab, until it is closed. The token of the computer's owner comes
// in the fragment of the address that `citewell serve` prints, which is never sent, and is kept in
// localStorage, for all tabs. Both are only sent in the header Authorization, never in a URL.

const STORED = "citewell-key";
const OWNER = "citewell-owner";
const TOKEN = /^#token=(cw_owner_[\w-]{43})$/;
const NEEDS_KEY = 401;

/** The event of the document after a key was entered. */
export const KEY_ENTERED = "citewell-key-entered";

/** Keep the owner's token from the address, and remove it there; returns whether there was one. */
export function keepToken() {
  const found = TOKEN.exec(location.hash);
  if (found) {
    localStorage.setItem(OWNER, found[1]);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return found !== null;
}

/** The key of this tab or else the owner's token, or null. */
export function currentKey() {
  return sessionStorage.getItem(STORED) ?? localStorage.getItem(OWNER);
}

/** Send a request with the key or the token; if the service requires one, ask for it and resend. */
export async function request(address, { headers = {}, ...options } = {}) {
  for (;;) {
    const key = currentKey();
    const sent = key ? { ...headers, Authorization: `Bearer ${key}` } : headers;
    const response = await fetch(address, { ...options, headers: sent });
    if (response.status !== NEEDS_KEY) {
      return response;
    }
    if (key && key !== currentKey()) {
      continue; // another request has asked meanwhile
    }
    if (key && key === localStorage.getItem(OWNER)) {
      localStorage.removeItem(OWNER); // of another data folder
      continue;
    }
    sessionStorage.removeItem(STORED);
    const why = key ? "The service rejected the key." : "This service requires an API key.";
    if (!(await askForKey(why))) {
      return response;
    }
  }
}

/** Send a body as JSON. */
export function post(address, body, { headers = {}, ...options } = {}) {
  return request(address, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", ...headers },
    ...options,
  });
}

/** The error message of a reply. */
export async function problemOf(response) {
  let said;
  try {
    const { detail, errors = [] } = await response.json();
    said = [detail, ...errors.map(({ where, detail: why }) => `${where}: ${why}`)].join(" ");
  } catch {
    said = `The service replied with status ${response.status}.`;
  }
  const seconds = Number(response.headers.get("Retry-After"));
  return seconds ? `${said} Try again in ${seconds} ${seconds === 1 ? "second" : "seconds"}.` : said;
}

/** The error message of a request without a reply. */
export function troubleOf(error) {
  return error instanceof TypeError ? "The service cannot be reached. Is it running?" : String(error);
}

/** Show the dialog for a key, and store it; resolves to whether one was entered. */
export function askForKey(why) {
  const dialog = document.getElementById("key-dialog");
  const field = document.getElementById("key");
  document.getElementById("key-why").textContent = why;
  field.value = "";
  if (!dialog.open) {
    dialog.showModal();
  }
  return new Promise((resolve) => {
    const end = new AbortController();
    const on = (target, name, act) => target.addEventListener(name, act, { signal: end.signal });
    on(document.getElementById("key-form"), "submit", () => {
      sessionStorage.setItem(STORED, field.value.trim());
      showKey();
      document.dispatchEvent(new Event(KEY_ENTERED));
    });
    on(document.getElementById("key-cancel"), "click", () => dialog.close());
    on(dialog, "close", () => {
      end.abort();
      resolve(sessionStorage.getItem(STORED) !== null);
    });
  });
}

/** Show the button that removes the key, if there is one. */
export function showKey() {
  const forget = document.getElementById("forget-key");
  forget.hidden = sessionStorage.getItem(STORED) === null;
  forget.onclick = () => {
    sessionStorage.removeItem(STORED);
    location.assign("/");
  };
}
