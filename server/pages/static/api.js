// The description of the API in Swagger UI, all of whose files are local.
document.documentElement.classList.toggle("dark-mode", matchMedia("(prefers-color-scheme: dark)").matches);
SwaggerUIBundle({
  url: "/schema/openapi.json",
  domNode: document.getElementById("api"),
  deepLinking: false, // its links would stand inside of buttons, which screen readers do not open
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  validatorUrl: null, // else it sends the description to another site
  onComplete: mark,
});

/** Name the parts of the page for screen readers, which Swagger UI does not. */
function mark() {
  for (const [part, name] of [[".information-container", "About the API"], [".schemes-server-container", "Access"]]) {
    const element = document.querySelector(part);
    element?.setAttribute("role", "region");
    element?.setAttribute("aria-label", name);
  }
  document.getElementById("servers")?.setAttribute("aria-label", "Server");
  document.querySelectorAll("h3.opblock-tag, .models h4").forEach((heading) => heading.setAttribute("aria-level", "2"));
}
