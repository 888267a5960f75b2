// Marking in the browser, for practice: the rules of quiz/marking.py. Only practice pages hold this and the keys.
const gcd = (a, b) => (b === 0 ? a : gcd(b, a % b));

function fraction(above, below) {
  const top = Math.max(0, above);
  const divisor = gcd(top, below) || 1;
  return [top / divisor, below / divisor];
}

const FULL = [1, 1];
const NOTHING = [0, 1];

// The mark of an answer: an outcome, the share of the points as a fraction, numbers of lines of feedback, and a sentence
// where the answer cannot be read. `draw` says which variant of a drawn item was asked.
function mark(item, typed, draw) {
  if (isEmpty(typed)) return { outcome: "not attempted", share: NOTHING, said: [], problem: "" };
  if (item.type === "open") return { outcome: "self-assessed", share: NOTHING, said: [], problem: "" };
  try {
    const [share, said] = judged(item, typed, draw);
    const outcome = share[0] === share[1] ? "passed" : share[0] > 0 ? "partly" : "failed";
    return { outcome, share, said: [...new Set(said)], problem: "" };
  } catch (problem) {
    if (!(problem instanceof Rewrite)) throw problem;
    return { outcome: "please rewrite", share: NOTHING, said: [], problem: problem.message };
  }
}

function judged(item, typed, draw) {
  const key = item.key;
  switch (item.type) {
    case "single":
    case "multiple": return judgedChoice(key, readAnswer(item, typed));
    case "number": return judgedNumber(key.draws[draw], readNumber(typed, key.percent));
    case "shape": return judgedEqual(key.draws[draw].wrong, shape => sameList(shape, readShape(typed)), key.draws[draw].value);
    case "text": return judgedText(key, readText(typed, key.case));
    case "order": return judgedOrder(key, readAnswer(item, typed));
    case "match": return judgedMatch(key, readAnswer(item, typed));
    default: return judgedEqual(key.wrong, output => output === readOutput(typed), key.output);
  }
}

function judgedChoice(key, letters) {
  const chosen = key.options.filter(option => letters.includes(option.letter));
  const hits = chosen.filter(option => option.key).length;
  const misses = chosen.length - hits;
  const wanted = key.options.filter(option => option.key).length;
  if (misses === 0 && hits === wanted) return [FULL, chosen.map(option => option.line)];
  const said = chosen.filter(option => !option.key).map(option => option.line);
  return [key.scoring === "right_minus_wrong" ? fraction(hits - misses, wanted) : NOTHING, said];
}

// Within the tolerance, the border included: the last bits of a decimal number decide nothing. A tolerance of 0 is exact.
const LAST_BITS = 1e-9;

function close(given, value, tolerance) {
  return Math.abs(given - value) <= tolerance + LAST_BITS * Math.max(Math.abs(value), tolerance);
}

function judgedNumber(draw, given) {
  if (close(given, draw.value, draw.tolerance)) return [FULL, []];
  const wrong = draw.wrong.find(([value]) => close(given, value, draw.tolerance));
  return [NOTHING, wrong ? [wrong[1]] : []];
}

const sameList = (one, other) => one.length === other.length && one.every((value, i) => value === other[i]);

function judgedEqual(wrong, isGiven, value) {
  if (isGiven(value)) return [FULL, []];
  return [NOTHING, wrong.filter(([other]) => isGiven(other)).map(([, line]) => line)];
}

function judgedText(key, given) {
  if (key.accept.includes(given)) return [FULL, []];
  return [NOTHING, key.wrong.filter(([text]) => text === given).map(([, line]) => line)];
}

function judgedOrder(key, letters) {
  if (sameList(key.steps, letters)) return [FULL, []];
  const surplus = key.extra.filter(([letter]) => letters.includes(letter));
  const said = [...surplus.map(([, line]) => line), key.line];
  if (key.scoring === "exact") return [NOTHING, said];
  const pairs = list => list.slice(1).map((letter, i) => list[i] + letter);
  const wanted = pairs(key.steps);
  const found = pairs(letters).filter(pair => wanted.includes(pair));
  return [fraction(found.length - surplus.length, wanted.length), said];
}

function judgedMatch(key, given) {
  const hits = key.pairs.filter(([left, right]) => given.get(left) === right).length;
  const said = key.confusions.filter(([left, right]) => given.get(left) === right).map(([, , line]) => line);
  return [fraction(hits, key.pairs.length), said];
}
