// Animates a trace: a pointer moves over the lemma while the form grows. The data is that of /api/trace and
// `reinflect trace --json`.

import * as api from "./api.js";
import { meter } from "./answers.js";
import { button, directionOf, fill, hintScroll, icon, make, percent, visible, word } from "./dom.js";
import { named, onModel, state } from "./state.js";

const SPEEDS = [0.5, 1, 2, 4, 8];
const START = "⊢";
const END = "⊣";
const VERBS = { copy: "copies", delete: "deletes", write: "writes", step: "moves on", stop: "stops" };

export class TracePlayer {
  constructor(place) {
    this.place = place;
    this.next = api.latest();
    this.speed = 2;
    place.addEventListener("keydown", (event) => this.key(event));
    onModel(() => this.close());
  }

  get isOpen() {
    return !this.place.hidden;
  }

  isOf(lemma, features) {
    return this.trace?.lemma === lemma && this.trace?.features === features;
  }

  close() {
    this.pause();
    this.next();
    this.trace = null;
    this.place.hidden = true;
    this.place.replaceChildren();
  }

  async open(lemma, features, member = null) {
    this.pause();
    this.place.hidden = false;
    if (!this.trace) this.place.replaceChildren(make("p", { class: "hint" }, "Loading the steps …"));
    try {
      const trace = await api.trace({ model: state.model.name, lemma, features, member }, this.next());
      this.draw(trace, member);
      this.place.scrollIntoView({ behavior: reducedMotion() ? "auto" : "smooth", block: "nearest" });
      this.playButton.focus({ preventScroll: true });
      if (reducedMotion()) this.show(0);
      else this.play();
    } catch (error) {
      const problem = api.errorMessage(error);
      if (problem) this.place.replaceChildren(make("p", { class: "message problem", role: "alert" }, problem));
    }
  }

  draw(trace, member) {
    Object.assign(this, { trace, at: 0 });
    const direction = directionOf(trace.lemma || trace.form);
    this.symbols = symbolsOf(trace);
    this.boxes = new Map();
    for (const [position, { text, kind }] of this.symbols)
      this.boxes.set(position, make("span", { class: `letter ${kind}` }, text));
    this.pointer = make("span", { class: "pointer", "aria-hidden": "true" });
    this.form = make("output", { class: "growing", dir: direction, "aria-live": "off" });
    this.caption = make("p", { class: "caption", role: "status" });
    this.details = make("div", { class: "details" });
    this.playButton = button([icon("next"), "Play"], () => this.toggle(), { class: "main play" });
    this.slider = make("input", {
      type: "range",
      min: "0",
      max: String(trace.steps.length - 1),
      value: "0",
      "aria-label": "Step",
    });
    this.slider.addEventListener("input", () => this.jump(Number(this.slider.value)));
    this.rows = trace.steps.map((step, number) => this.row(step, number));
    fill(
      this.place,
      make(
        "header",
        {},
        make("h2", {}, "How ", word(trace.lemma), " becomes ", word(trace.form)),
        button([icon("close"), "Close"], () => this.close(), { class: "quiet close" }),
      ),
      make("p", { class: "hint" }, named(trace.features), " · ", this.memberChoice(member)),
      trace.form === trace.steps.at(-1).form_so_far
        ? null
        : make(
            "p",
            { class: "hint" },
            "These steps do not end, or repeat a character too often: the prediction is the lemma itself.",
          ),
      make(
        "div",
        {
          class: "stage",
          tabindex: "0",
          role: "group",
          "aria-label": "Animation: space plays and pauses, arrow keys step, Home and End jump",
        },
        make(
          "div",
          { class: "lemma", dir: direction, "aria-label": `lemma ${trace.lemma}`, role: "img" },
          [...this.boxes.values()],
          this.pointer,
        ),
        this.form,
      ),
      this.caption,
      this.controls(),
      this.details,
      make(
        "details",
        { class: "steps" },
        make("summary", {}, `All ${trace.steps.length} steps`),
        hintScroll(make("div", { class: "scroll" }, this.stepsTable())),
      ),
    );
    this.show(0);
  }

  controls() {
    const control = (drawn, label, act) => button([icon(drawn)], act, { "aria-label": label, title: label });
    const speed = make("input", {
      type: "range",
      min: "0",
      max: String(SPEEDS.length - 1),
      value: String(SPEEDS.indexOf(this.speed)),
      "aria-label": "Speed",
    });
    speed.addEventListener("input", () => {
      this.speed = SPEEDS[Number(speed.value)];
      if (this.playing) this.schedule();
    });
    return make(
      "div",
      { class: "controls" },
      control("first", "First step", () => this.jump(0)),
      control("previous", "Previous step", () => this.jump(this.at - 1)),
      this.playButton,
      control("next", "Next step", () => this.jump(this.at + 1)),
      control("last", "Last step", () => this.jump(this.trace.steps.length - 1)),
      this.slider,
      make("label", { class: "speed" }, "speed", speed),
    );
  }

  memberChoice(member) {
    const select = make("select", {
      "aria-label": "Model whose steps are shown",
      onchange: () => this.open(this.trace.lemma, this.trace.features, select.value || null),
    });
    select.append(
      make("option", { value: "" }, member ? "best voter" : `best voter: ${this.trace.member}`),
    );
    for (const name of state.model.voter_names)
      select.append(make("option", { value: name, selected: name === member }, name));
    return select;
  }

  row(step, number) {
    return make(
      "tr",
      { onclick: () => this.jump(number) },
      make("td", { class: "number" }, String(number + 1)),
      make("td", {}, actionName(step)),
      make("td", {}, word(this.attended(step))),
      make("td", {}, word(step.form_so_far)),
      make("td", { class: "number" }, percent(step.probability)),
    );
  }

  stepsTable() {
    const titles = ["step", "action", "at", "form", "probability"];
    return make(
      "table",
      { class: "list" },
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          titles.map((title) => make("th", { scope: "col" }, title)),
        ),
      ),
      make("tbody", {}, this.rows),
    );
  }

  attended(step) {
    return this.symbols.get(step.position)?.text ?? END;
  }

  /** Draws one step, and which characters are copied or deleted by then. */
  show(number) {
    const { steps } = this.trace;
    this.at = Math.max(0, Math.min(steps.length - 1, number));
    const step = steps[this.at];
    for (const [position, box] of this.boxes) {
      const past = steps.slice(0, this.at + 1).filter((earlier) => earlier.position === position);
      box.classList.toggle("here", position === step.position);
      box.classList.toggle(
        "copied",
        past.some(({ kind }) => kind === "copy"),
      );
      box.classList.toggle(
        "deleted",
        past.some(({ kind }) => kind === "delete"),
      );
      box.style.setProperty("--attention", String(step.attention?.[position + edgesBefore(this.trace)] ?? 0));
    }
    this.point(step.position);
    const before = this.at ? steps[this.at - 1].form_so_far : "";
    const kept = step.form_so_far.startsWith(before) ? before : "";
    this.form.replaceChildren(
      kept,
      make("ins", {}, step.form_so_far.slice(kept.length)),
      make("span", { class: "caret", "aria-hidden": "true" }),
    );
    this.caption.replaceChildren(...this.sentence(step));
    this.details.replaceChildren(...details(step));
    this.slider.value = String(this.at);
    for (const [place, row] of this.rows.entries())
      row.setAttribute("aria-current", place === this.at ? "step" : "false");
    if (this.at === steps.length - 1) this.pause();
  }

  sentence(step) {
    const at = this.symbols.get(step.position)?.kind === "";
    const object =
      step.kind === "write"
        ? [" ", word(visibleText(step.written))]
        : step.kind === "copy" || step.kind === "delete"
          ? [" ", word(this.attended(step))]
          : [];
    const place = step.kind === "write" && at ? [" at ", word(this.attended(step))] : [];
    return [
      `Step ${this.at + 1} of ${this.trace.steps.length}: `,
      make("strong", { class: step.kind }, VERBS[step.kind] ?? step.action),
      ...object,
      ...place,
      ` · ${percent(step.probability)}`,
    ];
  }

  point(position) {
    const box = this.boxes.get(position) ?? [...this.boxes.values()].at(-1);
    this.pointer.style.setProperty(
      "transform",
      `translate(${box.offsetLeft + box.offsetWidth / 2}px, ${box.offsetTop + box.offsetHeight}px)`,
    );
  }

  play() {
    if (this.at >= this.trace.steps.length - 1) this.show(0);
    this.playing = true;
    this.playButton.replaceChildren(icon("pause"), "Pause");
    this.schedule();
  }

  schedule() {
    clearInterval(this.timer);
    this.timer = setInterval(() => this.show(this.at + 1), 1000 / this.speed);
  }

  pause() {
    clearInterval(this.timer);
    this.playing = false;
    this.playButton?.replaceChildren(icon("next"), "Play");
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  jump(number) {
    this.pause();
    this.show(number);
  }

  key(event) {
    if (!this.trace || event.altKey || event.ctrlKey || event.metaKey) return;
    const typing = event.target.matches("input, select");
    const acts = {
      ArrowRight: () => this.jump(this.at + 1),
      ArrowLeft: () => this.jump(this.at - 1),
      Home: () => this.jump(0),
      End: () => this.jump(this.trace.steps.length - 1),
    };
    if (event.key === " " && !event.target.matches("button, summary, select")) acts[" "] = () => this.toggle();
    const act = typing && event.key !== " " ? null : acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}

/** The number of symbols before the first character of the lemma, which has position 0. */
const edgesBefore = (trace) => (trace.source[0] === "<s>" ? 1 : 0);

/** The symbols that a step can be at, by position: edges, characters and, if the model reads them, features. */
function symbolsOf(trace) {
  const found = new Map();
  const past = [...trace.lemma].length;
  for (const [place, symbol] of trace.source.entries()) {
    const position = place - edgesBefore(trace);
    if (position < 0) {
      if (trace.steps.some((step) => step.position < 0 || step.attention))
        found.set(position, { text: START, kind: "edge" });
    } else if (position < past) found.set(position, { text: visible(symbol), kind: "" });
    else if (position === past) found.set(position, { text: END, kind: "edge" });
    else found.set(position, { text: symbol, kind: "feature" });
  }
  if (!found.has(past)) found.set(past, { text: END, kind: "edge" });
  return found;
}

const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const visibleText = (text) => ([...text].length === 1 ? visible(text) : text);

const actionName = (step) =>
  [VERBS[step.kind] ?? step.action, step.kind === "write" ? [" ", word(visibleText(step.written))] : ""].flat();

const NAMED = { COPY: "copy", DELETE: "delete", STEP: "move on", STOP: "stop", "</s>": "stop" };
const actionText = (action) =>
  NAMED[action] ? make("span", {}, NAMED[action]) : make("span", {}, "write ", word(visibleText(action)));

/** The probabilities of a step: of a copy against a generated character, and of each action. */
function details(step) {
  const parts = [];
  if (step.gate !== null) {
    const label = `${percent(1 - step.gate)} copied, ${percent(step.gate)} generated`;
    parts.push(
      make(
        "div",
        { class: "gate" },
        make("h3", {}, "Copied or generated"),
        make("span", { class: "split", role: "img", "aria-label": label, css: { "--share": String(1 - step.gate) } }),
        make("span", { class: "hint" }, label),
      ),
    );
  }
  const ways = [[step.action, step.probability], ...step.alternatives];
  parts.push(
    make(
      "div",
      { class: "ways" },
      make("h3", {}, "Possible actions"),
      make(
        "ol",
        { class: "alternatives" },
        ways.map(([action, probability], number) =>
          make(
            "li",
            { class: number ? "" : "taken" },
            actionText(action),
            meter(probability, percent(probability)),
            make("span", { class: "number" }, percent(probability)),
          ),
        ),
      ),
    ),
  );
  return parts;
}
