// The page: answers are kept as they are given, progress follows, files go out and come in.
const quiz = JSON.parse(document.querySelector("#quiz").textContent);
const store = new Store(quiz);
const byId = id => document.getElementById(id);
const many = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
const percent = (part, whole) => Math.floor(100 * part / whole);

const questions = quiz.items.map(item => {
  const box = byId(`q-${item.id}`);
  const question = { item, box, reply: box.querySelector(".reply"), control: controlOf(item, box), draw: 0 };
  box.addEventListener("input", event => { if (!event.target.classList.contains("tick")) answered(question); });
  box.addEventListener("change", event => {
    if (event.target.classList.contains("tick")) ticked(question);
    else settled(question);
  });
  box.querySelector(".check")?.addEventListener("click", () => check(question));
  return question;
});

function answered(question) {
  store.answer(question.item, question.control.typed());
  question.reply.replaceChildren();
  progress();
}

// The student has left the field: say at once if the answer could not be read.
function settled(question) {
  answered(question);
  try {
    const typed = question.control.typed();
    if (!isEmpty(typed)) readAnswer(question.item, typed);
  } catch (problem) {
    if (!(problem instanceof Rewrite)) throw problem;
    say(question, "rewrite", `Please rewrite: ${problem.message}.`);
  }
}

function ticked(question) {
  const ticks = [...question.box.querySelectorAll(".tick")];
  store.change(state => { state.ticks[question.item.id] = ticks.flatMap((tick, i) => (tick.checked ? [i] : [])); });
  warnings();
}

function say(question, kind, text, more = []) {
  const verdict = document.createElement("p");
  verdict.className = `verdict ${kind}`;
  verdict.textContent = text;
  question.reply.replaceChildren(verdict, ...more);
}

// What a template of the page holds, as an element of its own.
function copied(tag, kind, name) {
  const element = document.createElement(tag);
  element.className = kind;
  element.append(byId(name).content.cloneNode(true));
  return element;
}

const VERDICTS = {
  "passed": "This is the answer.",
  "failed": "Not yet.",
  "not attempted": "Nothing is answered yet.",
  "self-assessed": "Compare your answer with the model, and tick what it has.",
};

function check(question) {
  const { item, draw } = question;
  const found = mark(item, question.control.typed(), draw);
  const [above, below] = found.share;
  let text = VERDICTS[found.outcome] ?? `Partly: ${above}/${below} of the points.`;
  if (found.problem) text = `Please rewrite: ${found.problem}.`;
  const more = found.said.map(number => copied("p", "feedback", `line-${item.key.lines[number]}`));
  if (["passed", "partly", "failed", "self-assessed"].includes(found.outcome)) more.push(explanation(question, found.outcome));
  say(question, found.outcome.replaceAll(" ", "-"), text, more);
}

function explanation(question, outcome) {
  const { item, draw } = question;
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  summary.textContent = item.type === "open" ? "A model answer" : "Answer and explanation";
  details.append(summary, copied("div", "why", `why-${item.id}`));
  if (item.draws || item.key?.draws) {
    const answer = document.createElement("p");
    answer.className = "answer";
    answer.textContent = `Answer: ${item.key.draws[draw].shown}`;
    summary.after(answer);
  }
  details.open = outcome !== "failed" && outcome !== "partly";
  return details;
}

// Each parameter of a drawn item, in the texts that name it.
const places = questions.filter(question => question.item.draws).map(question => {
  const found = [];
  const walker = document.createTreeWalker(question.box, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (/\u27e6.+\u27e7/.test(walker.currentNode.data)) found.push([walker.currentNode, walker.currentNode.data]);
  return [question, found];
});

function fill() {
  const student = store.state.student;
  for (const [question, texts] of places) {
    const isWaiting = !student && !quiz.practice;
    question.draw = drawnNumber(student, question.item.id, question.item.draws.length);
    const values = question.item.draws[question.draw];
    for (const [node, text] of texts) {
      node.data = text.replace(/\u27e6(.+?)\u27e7/g, (sign, name) => (isWaiting ? name : values[name]));
    }
    question.box.querySelector(".waiting").hidden = !isWaiting;
    question.box.querySelector(".answering").hidden = isWaiting;
  }
}

function show() {
  byId("student").value = store.state.student;
  fill();
  for (const question of questions) {
    question.control.show(store.typed(question.item));
    if (store.isOutdated(question.item)) say(question, "rewrite", "This question has changed since you answered it. Please answer it again.");
    const ticks = store.state.ticks[question.item.id] ?? [];
    question.box.querySelectorAll(".tick").forEach((tick, i) => { tick.checked = ticks.includes(i); });
  }
  progress();
}

function progress() {
  const done = new Set(store.answered().map(item => item.id));
  let sections = 0, ofCourse = 0;
  for (const section of quiz.sections) {
    const counted = section.items.filter(id => done.has(id)).length;
    const isDone = section.required.length > 0 && section.required.every(id => done.has(id));
    sections += isDone;
    ofCourse += isDone && section.listed;
    const link = document.querySelector(`nav a[href="#${section.place}"]`);
    link.classList.toggle("done", isDone);
    link.querySelector(".count").textContent = `${counted}/${section.items.length}`;
    link.querySelector(".state").textContent = isDone ? ", done" : "";
  }
  const whole = quiz.sections.length;
  byId("sections").textContent = `${sections} of ${many(whole, "section")} (${percent(sections, whole)} %)`;
  byId("bar").value = sections;
  if (quiz.course) byId("course").textContent = `${ofCourse} of ${quiz.course} sections of the course (${percent(ofCourse, quiz.course)} %)`;
  const answers = quiz.items.filter(item => done.has(item.id)).length;
  byId("answers").textContent = `${answers} of ${many(quiz.items.length, "question")} answered`;
  warnings();
}

function warnings() {
  byId("not-kept").hidden = store.keeps;
}

function tell(text) {
  byId("told").textContent = text;
}

byId("student").addEventListener("change", event => {
  store.change(state => { state.student = tidyName(event.target.value); });
  questions.forEach(question => question.reply.replaceChildren());
  show();
});

byId("export").addEventListener("click", () => {
  if (!store.state.student) {
    tell("Enter your student ID first; it goes into the file.");
    byId("student").focus();
    return;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([store.written()], { type: "application/json" }));
  link.download = "quiz_answers.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  const open = questions.filter(question => question.item.counted && !question.item.optional && isEmpty(question.control.typed()));
  tell(`quiz_answers.json has ${many(store.answered().length, "answer")}.${open.length ? ` ${many(open.length, "question")} still open.` : ""}`);
});

byId("import").addEventListener("click", () => byId("file").click());
byId("file").addEventListener("change", async event => {
  const [chosen] = event.target.files;
  event.target.value = "";
  if (!chosen) return;
  try {
    if (chosen.size > LARGEST) throw new Error(`The file is larger than ${LARGEST / 1000} kB. Choose the quiz_answers.json that was exported.`);
    const found = store.parsed(await chosen.text());
    const before = store.answered().length;
    const question = `Replace the ${many(before, "answer")} on this page by the ${found.answers.length} of the file?`;
    if (before && !confirm(question)) return tell("Nothing was changed.");
    store.replace(found);
    questions.forEach(each => each.reply.replaceChildren());
    show();
    const left = found.left.length ? ` Left out, because this page has no such question or choice: ${found.left.slice(0, 5).join(", ")}${found.left.length > 5 ? " and others" : ""}.` : "";
    tell(`${many(found.answers.length, "answer")} taken from the file.${left}`);
  } catch (problem) {
    tell(problem.message);
  }
});

byId("restart").addEventListener("click", () => {
  if (!confirm("Start over? All answers on this page are deleted from this browser. Export them first if you want to keep them.")) return;
  store.clear();
  questions.forEach(question => question.reply.replaceChildren());
  show();
  tell("All answers were deleted.");
});

// What another tab has changed.
addEventListener("storage", event => {
  if (event.key !== store.place && event.key !== null) return;
  store.state = store.read();
  show();
});

addEventListener("beforeunload", event => {
  if (!store.keeps && store.answered().length) event.preventDefault();
});

// What is wider than its place can be scrolled by the keyboard.
const sizes = new ResizeObserver(entries => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
document.querySelectorAll("pre, .drawing, .scroll").forEach(element => sizes.observe(element));

const wide = matchMedia("(min-width: 60rem)");
const unfold = () => { byId("contents").open = wide.matches; };
wide.addEventListener("change", unfold);
unfold();
show();
document.documentElement.classList.add("ready");
