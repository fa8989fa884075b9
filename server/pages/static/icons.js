// The icons of cited sites, which the service fetches once they are seen; until then, and without one, a letter.

import { request } from "./service.js";

/** Load the icons below an element when they come into view. */
export function prepareIcons(root) {
  const watch = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      if (isIntersecting) {
        watch.unobserve(target);
        load(target);
      }
    }
  });
  root.querySelectorAll("[data-icon]").forEach((tile) => watch.observe(tile));
}

/** Replace the letter of a tile by the icon, if there is one that the browser can show. */
async function load(tile) {
  const image = new Image();
  image.alt = "";
  try {
    const response = await request(tile.dataset.icon); // an image could not send the key
    if (response.status !== 200) {
      return;
    }
    image.src = URL.createObjectURL(await response.blob());
    await image.decode();
    tile.replaceChildren(image);
  } catch {
    // The letter stays.
  } finally {
    URL.revokeObjectURL(image.src);
  }
}
