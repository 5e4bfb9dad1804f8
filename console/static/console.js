// Everything here is a convenience: each page works without it.

(() => {
  "use strict";

  // A part that refreshes itself pauses while its page is not visible, and while something in it is open.
  document.addEventListener("htmx:beforeRequest", (event) => {
    const part = event.target.closest("[data-live]");
    if (part !== event.target) return;
    if (document.hidden || part.querySelector("details[open]")) event.preventDefault();
  });

  // A form that is being sent cannot be sent again. Its Idempotency-Key protects it even without this.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("[data-once]")) return;
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "yes";
    // Back then reloads this address, not the response to the form, for which the browser would submit the form again.
    if ("leave" in form.dataset) history.replaceState(history.state, "", location.href);
    setTimeout(() => delete form.dataset.sent, 8000);
  });

  document.addEventListener("click", (event) => {
    const copy = event.target.closest("[data-copy]");
    if (copy) {
      navigator.clipboard.writeText(copy.dataset.copy).then(() => copy.classList.add("done"));
      return;
    }
    const close = event.target.closest("[data-close]");
    if (close) {
      event.preventDefault();
      const asked = close.closest("details");
      asked.removeAttribute("open");
      asked.querySelector("summary").focus();
      return;
    }
    // A menu closes when something else is clicked.
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.removeAttribute("open");
    }
  });

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      menu.removeAttribute("open");
      menu.querySelector("summary").focus();
    }
  });

  const prepare = () => {
    for (const button of document.querySelectorAll("[data-copy][hidden]")) button.hidden = !navigator.clipboard;
    for (const element of document.querySelectorAll("[data-js-hidden]")) element.hidden = true;
    const problem = document.querySelector("[data-focus]");
    if (problem) problem.focus();
    // The zone of the browser, for links and forms that ask for one.
    for (const link of document.querySelectorAll("[data-zone-link]")) {
      link.search = new URLSearchParams({ time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone });
    }
    for (const zone of document.querySelectorAll("[data-zone]")) {
      if (!zone.value) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
    }
  };

  prepare();

  // A page that the back button brings back can be sent again.
  addEventListener("pageshow", (event) => {
    if (event.persisted) for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  });
})();
