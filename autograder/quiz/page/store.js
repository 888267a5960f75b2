// The answers of this browser. They survive a reload; tabs that are open side by side change one answer at a time.
//
// state = { student, fixed: {item: answer}, drawn: {"=student": {item: answer}}, ticks: {item: [numbers]} }
// answer = { typed, version }; answers to drawn items belong to the name that they were drawn for.
const FORMAT = "autograder-answers-1";
const FIELDS = { format: "text", assignment: "text", student: "text", answers: "a mapping", versions: "a mapping" };
const LARGEST = 500000;

const isMapping = value => value !== null && typeof value === "object" && !Array.isArray(value);
const own = (mapping, name) => (isMapping(mapping) && Object.hasOwn(mapping, name) ? mapping[name] : undefined);
const shortened = text => ([...text].length <= 40 ? text : `${[...text].slice(0, 37).join("")}...`);

class Store {
  constructor(quiz) {
    this.items = new Map(quiz.items.map(item => [item.id, item]));
    this.assignment = quiz.assignment;
    this.place = `autograder-quiz-1/${quiz.assignment}/${quiz.practice ? "practice" : "graded"}`;
    this.memory = this.accepted(null);
    this.keeps = true;
    try {
      localStorage.setItem(`${this.place}/probe`, "1");
      localStorage.removeItem(`${this.place}/probe`);
    } catch {
      this.keeps = false;
    }
    this.state = this.read();
  }

  read() {
    if (!this.keeps) return this.memory;
    try {
      return this.accepted(JSON.parse(localStorage.getItem(this.place)));
    } catch {
      return this.accepted(null);
    }
  }

  // Reads again before it writes, so that what another tab has answered in the meantime stays.
  change(edit) {
    this.state = this.read();
    edit(this.state);
    this.memory = this.state;
    if (!this.keeps) return;
    try {
      localStorage.setItem(this.place, JSON.stringify(this.state));
    } catch {
      this.keeps = false;
    }
  }

  // Only what has the form of a state, whatever lies in the browser.
  accepted(found) {
    const state = { student: "", fixed: {}, drawn: {}, ticks: {} };
    if (!isMapping(found)) return state;
    if (typeof found.student === "string") state.student = found.student.slice(0, 200);
    const answers = mapping => Object.fromEntries(Object.entries(isMapping(mapping) ? mapping : {}).filter(([id, answer]) =>
      this.items.has(id) && isMapping(answer) && typeof answer.version === "string"));
    state.fixed = answers(found.fixed);
    for (const [student, mapping] of Object.entries(isMapping(found.drawn) ? found.drawn : {})) {
      if (student.startsWith("=")) state.drawn[student] = answers(mapping);
    }
    for (const [id, numbers] of Object.entries(isMapping(found.ticks) ? found.ticks : {})) {
      if (this.items.has(id) && Array.isArray(numbers)) state.ticks[id] = numbers.filter(Number.isInteger);
    }
    return state;
  }

  shelf(item, state = this.state) {
    return item.draws ? own(state.drawn, `=${state.student}`) : state.fixed;
  }

  // The answer to an item as its control shows it; empty where there is none, or where it answers an older question.
  typed(item) {
    const answer = own(this.shelf(item), item.id);
    if (!answer || answer.version !== item.version) return "";
    return shownForm(item, answer.typed) ?? "";
  }

  isOutdated(item) {
    const answer = own(this.shelf(item), item.id);
    return Boolean(answer) && answer.version !== item.version;
  }

  answer(item, typed) {
    this.change(state => {
      if (item.draws) state.drawn[`=${state.student}`] ??= {};
      const shelf = this.shelf(item, state);
      if (isEmpty(typed)) delete shelf[item.id];
      else shelf[item.id] = { typed, version: item.version };
    });
  }

  answered() {
    return [...this.items.values()].filter(item => !isEmpty(this.typed(item)));
  }

  // An answers file, as quiz/answers.py reads it.
  written() {
    const answered = this.answered();
    return `${JSON.stringify({
      format: FORMAT,
      assignment: this.assignment,
      student: this.state.student,
      answers: Object.fromEntries(answered.map(item => [item.id, this.typed(item)])),
      versions: Object.fromEntries(answered.map(item => [item.id, item.version])),
    }, null, 1)}\n`;
  }

  // Puts the answers of a file in the place of those of the browser.
  replace(file) {
    this.change(state => {
      state.student = file.student;
      state.fixed = {};
      state.drawn[`=${file.student}`] = {};
      for (const [item, typed] of file.answers) {
        this.shelf(item, state)[item.id] = { typed, version: file.versions.get(item.id) ?? item.version };
      }
    });
  }

  clear() {
    this.change(state => Object.assign(state, this.accepted(null)));
  }

  // The answers of a file, or an Error with one sentence. Nothing of it is taken that has not the form of an answer.
  parsed(text) {
    let found;
    try {
      found = JSON.parse(text.replace(/^\ufeff/, ""));
    } catch {
      throw new Error("The file is not valid JSON. Choose the quiz_answers.json that was exported.");
    }
    if (!isMapping(found) || !isMapping(own(found, "answers"))) {
      throw new Error("The file is no answers file: it must have `answers`, a mapping of question ids to answers.");
    }
    for (const [name, value] of Object.entries(found)) {
      const kind = own(FIELDS, name);
      if (!kind) throw new Error(`\`${shortened(name)}\` is not a field of an answers file; it has ${Object.keys(FIELDS).join(", ")}.`);
      const fits = kind === "text" ? typeof value === "string" : isMapping(value);
      if (!fits && !(name === "student" && value === null)) throw new Error(`\`${name}\` must be ${kind}. Export the answers again.`);
    }
    if ((found.format ?? FORMAT) !== FORMAT) {
      throw new Error(`The file has the format ${shortened(found.format)}; this page reads ${FORMAT}.`);
    }
    if ((found.assignment ?? this.assignment) !== this.assignment) {
      throw new Error(`The file answers the quiz of ${shortened(found.assignment)}, not of ${this.assignment}.`);
    }
    const student = tidyName(found.student ?? "");
    if (student.length > 200) throw new Error("`student` is longer than 200 characters.");
    return { student, ...this.parsedAnswers(found.answers, found.versions ?? {}) };
  }

  parsedAnswers(given, versions) {
    const answers = [], left = [], kept = new Map();
    for (const [id, value] of Object.entries(given)) {
      const item = this.items.get(id);
      const typed = item && shownForm(item, value);
      if (typed !== undefined && !isEmpty(typed)) answers.push([item, typed]);
      else if (!item || !isEmpty(value)) left.push(shortened(id));
      if (item && typeof own(versions, id) === "string") kept.set(id, versions[id].slice(0, 40));
    }
    return { answers, left, versions: kept };
  }
}

// An answer in the form that its control keeps: text, a letter, a list of letters, or a mapping; undefined where it has none.
function shownForm(item, typed) {
  try {
    if (isEmpty(typed)) return "";
    if (["single", "multiple", "order", "match"].includes(item.type)) {
      const found = readAnswer(item, typed);
      return item.type === "single" ? found[0] : item.type === "match" ? Object.fromEntries(found) : found;
    }
    if (typeof typed === "number" || typeof typed === "boolean") return String(typed);
    if (item.type === "shape" && Array.isArray(typed) && typed.length < 13) return JSON.stringify(typed);
    return typeof typed === "string" && size(typed) <= LONGEST ? typed : undefined;
  } catch {
    return undefined;
  }
}

const tidyName = text => strip(text.normalize("NFC").replace(/\p{C}/gu, "").replace(BLANKS, " "));

// Which of `count` variants a student gets: FNV-1a, as quiz/bank.py.
function drawnNumber(student, item, count) {
  let state = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(`${student}/${item}`)) state = Math.imul(state ^ byte, 0x01000193) >>> 0;
  return state % count;
}
