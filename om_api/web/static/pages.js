// What the pages do in a browser beside htmx: times in the reader's zone, questions before what cannot be undone, keys.
(() => {
  const [shown, exact] = ["short", "medium"].map(
    (timeStyle) => new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle }),
  );
  const told = document.querySelector("#live-state");

  const inZone = (root) => {
    for (const time of root.querySelectorAll("time[datetime]:not([title])")) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      time.title = time.textContent;
      time.textContent = ("exact" in time.dataset ? exact : shown).format(at);
    }
  };

  const say = (text) => {
    if (told && told.textContent !== text) told.textContent = text;
  };

  const lightUp = (line, on) => {
    for (const id of (line.dataset.messages || "").split(" ").filter(Boolean)) {
      document.getElementById(`m-${id}`)?.classList.toggle("lit", on);
    }
  };

  document.addEventListener("submit", (event) => {
    const question = event.target.dataset.confirm;
    if (question && !window.confirm(question)) event.preventDefault();
  });

  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.matches("[data-imports]")) return;
    event.preventDefault();
    const said = form.querySelector("[role=status]");
    said.className = "note";
    said.textContent = "Sending the file…";
    try {
      const name = encodeURIComponent(form.elements.name.value.trim());
      const answer = await fetch(`/ui/agents/${name}/import`, {
        method: "POST",
        headers: { "X-Form-Token": form.elements.token.value, "Content-Type": "application/x-ndjson" },
        body: form.elements.file.files[0],
        redirect: "manual",  // whoever follows it takes from the page that is loaded what was done
      });
      if (answer.type === "opaqueredirect") {
        location.href = `/ui/agents/${name}`;
        return;
      }
      said.className = "problem";
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      said.textContent = page.querySelector("[role=alert]")?.textContent ?? `The server answered ${answer.status}.`;
    } catch {
      said.className = "problem";
      said.textContent = "The server does not answer: nothing was imported, repeat when it does.";
    }
  });

  for (const [happened, on] of [["mouseover", true], ["mouseout", false], ["focusin", true], ["focusout", false]]) {
    document.addEventListener(happened, (event) => {
      const line = event.target.closest?.("[data-messages]");
      if (line) lightUp(line, on);
    });
  }

  const pinsAsItWas = (dialog) => {
    const { was, now } = dialog.querySelector("form").elements;
    for (const pin of dialog.querySelectorAll("[data-as-it-was]")) pin.disabled = was.value !== now.value;
  };

  document.addEventListener("click", (event) => {
    const dialog = document.querySelector("#line");
    const line = event.target.closest?.("[data-edits]");
    if (line && dialog) {
      const fields = dialog.querySelector("form").elements;
      fields.was.value = fields.now.value = line.dataset.line;
      fields.observation.value = line.dataset.observation;
      pinsAsItWas(dialog);
      dialog.querySelector("[data-when-pinned]").hidden = !("pinned" in line.dataset);
      dialog.querySelector("[data-when-unpinned]").hidden = "pinned" in line.dataset;
      dialog.showModal();
    }
    if (event.target.closest?.("[data-closes]")) dialog?.close();
  });

  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const search = document.querySelector("[type=search]");
      if (search) {
        event.preventDefault();
        search.focus();
      }
    }
  });

  document.addEventListener("input", (event) => {
    const form = event.target.closest?.("form[data-as-it-moves]");
    if (form && event.target.type === "range") event.target.nextElementSibling.textContent = event.target.value;
    const dialog = event.target.closest?.("#line");
    if (dialog) pinsAsItWas(dialog);
  });

  document.addEventListener("change", (event) => {
    event.target.closest?.("form[data-as-it-moves]")?.requestSubmit();
  });

  document.addEventListener("htmx:sse:after:connection", () => say("live"));
  document.addEventListener("htmx:sse:error", () => say("not live: the server does not answer"));
  document.addEventListener("om-away", () => say("not live: the store does not answer"));
  document.addEventListener("om-back", () => say("live"));
  const seen = () => document.querySelector(".columns")?.textContent;
  inZone(document);
  const first = seen();
  document.addEventListener("htmx:after:swap", () => {
    inZone(document);
    if (seen() !== first) document.querySelector("[data-until-changed]")?.remove();
  });
})();
