// The address of what the page shows. Back and forward reload answers, except within a page.

let shown = location.pathname;

/** Give the page the address of what it shows, or will show. */
export function moveTo(address) {
  if (location.pathname !== address) {
    history.pushState(null, "", address);
  }
  shown = address;
}

addEventListener("popstate", () => {
  if (location.pathname !== shown) {
    location.reload();
  }
});
