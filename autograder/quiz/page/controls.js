// One control for each type of item: `typed` says what is answered, `show` puts an answer in place.
function controlOf(item, box) {
  const inputs = [...box.querySelectorAll("input, select, textarea")].filter(input => !input.classList.contains("tick"));
  switch (item.type) {
    case "single": return {
      typed: () => inputs.find(input => input.checked)?.value ?? "",
      show: typed => inputs.forEach(input => { input.checked = input.value === typed; }),
    };
    case "multiple": return {
      typed: () => inputs.filter(input => input.checked).map(input => input.value),
      show: typed => inputs.forEach(input => { input.checked = typed.includes(input.value); }),
    };
    case "match": return {
      typed: () => Object.fromEntries(inputs.filter(input => input.value).map(input => [input.dataset.number, input.value])),
      show: typed => inputs.forEach(input => { input.value = own(typed, input.dataset.number) ?? ""; }),
    };
    case "order": return orderControl(box);
    default: return {
      typed: () => inputs[0].value,
      show: typed => { if (inputs[0].value !== typed) inputs[0].value = typed; },
    };
  }
}

// Steps are placed one after the other, moved, and taken out again, all by buttons.
function orderControl(box) {
  const steps = new Map([...box.querySelectorAll(".step")].map(step => [step.dataset.letter, step]));
  const placed = box.querySelector(".placed"), pool = box.querySelector(".pool"), empty = box.querySelector(".empty");
  const most = Number(placed.dataset.count);
  let order = [];

  function arrange() {
    for (const letter of order) placed.append(steps.get(letter));
    for (const [letter, step] of steps) if (!order.includes(letter)) pool.append(step);
    for (const [letter, step] of steps) {
      const at = order.indexOf(letter);
      for (const button of step.querySelectorAll("button")) button.hidden = (button.dataset.act === "place") === (at >= 0);
      step.querySelector("[data-act=place]").disabled = order.length >= most;
      step.querySelector("[data-act=up]").disabled = at === 0;
      step.querySelector("[data-act=down]").disabled = at === order.length - 1;
    }
    empty.hidden = order.length > 0;
    pool.hidden = box.querySelector(".pool-title").hidden = order.length === steps.size;
  }

  function act(letter, action) {
    const at = order.indexOf(letter);
    if (action === "place") order.push(letter);
    if (action === "out") order.splice(at, 1);
    if (action === "up") order.splice(at - 1, 2, letter, order[at - 1]);
    if (action === "down") order.splice(at, 2, order[at + 1], letter);
    arrange();
    const now = order.indexOf(letter);
    announce(now < 0 ? "Taken out." : `Place ${now + 1} of ${most}.`);
    // The button that was pressed may be gone: the focus stays near it.
    const wanted = [
      steps.get(letter).querySelector(`[data-act=${action}]`),
      ...(action === "place" ? pool.querySelectorAll("[data-act=place]") : []),
      ...steps.get(letter).querySelectorAll("button"),
    ];
    wanted.find(button => !button.hidden && !button.disabled)?.focus();
    box.dispatchEvent(new Event("change", { bubbles: true }));
  }

  for (const [letter, step] of steps) {
    for (const button of step.querySelectorAll("button")) button.addEventListener("click", () => act(letter, button.dataset.act));
  }
  arrange();
  return {
    typed: () => [...order],
    show: typed => {
      if (typeof typed === "string" ? order.length : typed.join() !== order.join()) {
        order = [...typed];
        arrange();
      }
    },
  };
}

function announce(text) {
  document.querySelector("#said").textContent = text;
}
