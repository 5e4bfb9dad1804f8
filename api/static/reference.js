"use strict";

document.getElementById("origin").textContent = location.origin;

const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", paint);
paint();

const reference = document.getElementById("reference");
SwaggerUIBundle({
  url: reference.dataset.document,
  domNode: reference,
  validatorUrl: null, // nothing leaves this page
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
});
