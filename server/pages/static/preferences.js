// What a reader prefers, before the page is shown: it is kept in the browser, and this is not a module since those wait.

{
  const { dataset } = document.documentElement;
  dataset.theme = localStorage.getItem("citewell-theme") ?? "";
  dataset.language = localStorage.getItem("citewell-language") ?? "";
  document.documentElement.lang = dataset.language || "en";
}
