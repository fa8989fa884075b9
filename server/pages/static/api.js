// The description of the API in Swagger UI, all of whose files are local.
document.documentElement.classList.toggle("dark-mode", matchMedia("(prefers-color-scheme: dark)").matches);
SwaggerUIBundle({
  url: "/schema/openapi.json",
  domNode: document.getElementById("api"),
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  validatorUrl: null, // else it sends the description to another site
});
