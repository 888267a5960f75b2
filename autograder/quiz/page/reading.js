// How answers are read: the rule of quiz/reading.py, sign by sign. A test compares both on thousands of typed answers.
const LONGEST = 2000;
const BLANK = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const BLANKS = new RegExp(`${BLANK}+`, "g");
const ENDS = new RegExp(`^${BLANK}+|${BLANK}+$`, "g");
const DASHES = /[\u2010-\u2014\u2212\ufe63\uff0d]/g;

class Rewrite extends Error {}

const strip = text => text.replace(ENDS, "");
const size = text => [...text].length;
const ASCII = /^[\x00-\x7f]*$/;

// One form for what looks alike, without the marks that nobody sees.
function plainForms(text) {
  const seen = ASCII.test(text) ? text : text.replace(/\p{Cf}/gu, "");
  return seen.normalize("NFKC").replace(DASHES, "-");
}

const oneLine = text => strip(plainForms(text).replace(BLANKS, " "));

function line(typed, wanted) {
  if (typeof typed !== "string") throw new Rewrite(`write ${wanted}`);
  if (size(typed) > LONGEST) throw new Rewrite(`an answer of ${size(typed)} characters is too long; write ${wanted}`);
  return oneLine(typed);
}

function quoted(typed) {
  const signs = [...typed].slice(0, 41).map(sign => (sign !== " " && /[\p{C}\p{Z}]/u.test(sign) ? "\ufffd" : sign));
  return signs.length <= 40 ? `"${signs.join("")}"` : `"${signs.slice(0, 37).join("")}..."`;
}

// Digits of every script, as Python's \d: each script has its ten in a row.
function asciiDigits(text) {
  return text.replace(/\p{Nd}/gu, sign => {
    const code = sign.codePointAt(0);
    let first = code;
    while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first -= 1;
    return String((code - first) % 10);
  });
}

function finite(value, text) {
  if (!Number.isFinite(value)) throw new Rewrite(`${text} is not a finite number; write one, such as 0.125 or 1/8`);
  return value;
}

// With `percent` the question asks how many percent, so that 50 % and 50 are the same.
function readNumber(typed, percent = false) {
  if (typeof typed === "number") return finite(typed, "this");
  if (typeof typed === "string" && /\p{No}/u.test(typed)) {
    throw new Rewrite(`${quoted(typed)} has digits that are raised or joined; write it in plain ones, such as 1/2`);
  }
  const text = line(typed, "a number, such as 0.125 or 1/8").toLowerCase();
  return text.endsWith("%") ? readFraction(strip(text.slice(0, -1))) / (percent ? 1 : 100) : readFraction(text);
}

function readFraction(text) {
  const parts = text.split("/");
  if (parts.length !== 2) return finite(decimal(text), quoted(text));
  const [above, below] = parts.map(part => decimal(strip(part)));
  if (below === 0) throw new Rewrite(`${quoted(text)} divides by zero; write a number, such as 0.125 or 1/8`);
  return finite(above / below, quoted(text));
}

function decimal(text) {
  const digits = asciiDigits(text);
  if (/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,3})?$/.test(digits)) return Number(digits);
  let found = /^([-+]?\d*),(\d+)(e[-+]?\d{1,3})?$/.exec(digits);
  if (found) {
    const [, front, back, power] = found;
    const [before, after] = text.split(",");
    const whole = before.replace(/^[-+]+/, "");
    if (back.length === 3 && size(whole) >= 1 && size(whole) <= 3 && !whole.startsWith("0") && !power) {
      throw new Rewrite(`${text} could be ${before}${after} or ${before}.${after}; write it without a comma`);
    }
    return Number(`${front}.${back}${power ?? ""}`);
  }
  found = /^[-+]?\d{1,3}([., ])\d{3}(?:\1\d{3})*([.,]\d*)?$/.exec(digits);
  if (found && (found[2] ?? "")[0] !== found[1]) {
    const rest = found[2] ?? "";
    const whole = digits.slice(0, digits.length - rest.length).replaceAll(found[1], "");
    return Number(`${whole}.${rest.slice(1)}`);
  }
  throw new Rewrite(`${quoted(text)} is not a number; write one, such as 0.125 or 1/8`);
}

const SIZES = /^\d{1,9}(( ?[,;x×*] ?| )\d{1,9})*( ?,)?$/;

function readShape(typed) {
  const wanted = "a shape, such as [2, 2, 4]";
  const text = line(typed, wanted);
  const plain = strip(asciiDigits(text.toLowerCase()).replace(/^torch\.size/, ""));
  let bare = plain;
  while (bare.length > 1 && ["()", "[]"].includes(bare[0] + bare[bare.length - 1])) bare = strip(bare.slice(1, -1));
  if (!bare && plain) return [];
  if (!SIZES.test(bare)) throw new Rewrite(`${quoted(text)} is not ${wanted}`);
  return bare.match(/\d+/g).map(Number);
}

// Python's casefold, sign by sign: the way over capitals also joins ß and ss, and the two small sigmas.
function casefold(text) {
  return [...text].map(sign => (sign === "\u0131" ? sign : sign === "\u1e9e" ? "ss" : sign.toUpperCase().toLowerCase())).join("");
}

function readText(typed, countsCase) {
  const plain = line(typed, "a word or two").replace(/[ _-]/g, "").replace(/[.!]+$/, "");
  if (!plain) throw new Rewrite("write a word or two");
  return countsCase ? plain : casefold(plain);
}

function readOutput(typed) {
  if (typeof typed !== "string" || size(typed) > LONGEST) throw new Rewrite("write what the program prints, as text");
  const lines = strip(plainForms(typed)).split(/\r\n|[\n-\r\x1c-\x1e\x85\u2028\u2029]/);
  return lines.map(each => strip(each.replace(BLANKS, " ")).replace(/ ?([[\](),:]) ?/g, "$1")).join("\n");
}

// Where the order counts, no letter may be given twice.
function readLetters(typed, known, several, inOrder = false) {
  const wanted = `${several ? "letters" : "one letter"} of ${known[0]} to ${known[known.length - 1]}`;
  let parts;
  if (Array.isArray(typed)) {
    parts = typed.map(part => line(part, wanted));
  } else {
    const text = line(typed, wanted);
    parts = several && /^\p{L}+$/u.test(text) ? [...text] : text.split(/[ ,;/]+/);
  }
  const plain = parts.filter(part => part).map(part => casefold(part.replace(/^[(). ]+|[(). ]+$/g, "")));
  const unknown = plain.find(part => !known.includes(part));
  if (unknown !== undefined) throw new Rewrite(`${quoted(unknown)} is none of the choices; write ${wanted}`);
  const found = [...new Set(plain)];
  if (inOrder && found.length < plain.length) {
    const twice = found.find(part => plain.indexOf(part) !== plain.lastIndexOf(part));
    throw new Rewrite(`${twice} is given twice; write each of its letters once`);
  }
  if (found.length === 0 || (!several && found.length > 1)) throw new Rewrite(`write ${wanted}`);
  return found;
}

const PAIR = /(\p{Nd}{1,3}) ?[-:=.)]? ?([a-zA-Z])(?![a-zA-Z])/gu;

function readMatches(typed, lefts, rights) {
  const wanted = `a letter for each number, such as 1${rights[0]} 2${rights[rights.length - 1]}`;
  let pairs;
  if (typed !== null && typeof typed === "object" && !Array.isArray(typed)) {
    pairs = Object.entries(typed).map(([left, right]) => [line(left, wanted), line(right, wanted)]);
  } else {
    const text = line(typed, wanted);
    pairs = [...text.matchAll(PAIR)].map(found => found.slice(1));
    if (!pairs.length || !/^[ ,;]*$/.test(text.replace(PAIR, ""))) throw new Rewrite(`${quoted(text)} cannot be read; write ${wanted}`);
  }
  const found = new Map();
  for (const [left, right] of pairs) {
    if (found.has(left)) throw new Rewrite(`${quoted(left)} is given twice; write ${wanted}`);
    if (!lefts.includes(left) || !rights.includes(casefold(right))) {
      throw new Rewrite(`${quoted(`${left}: ${right}`)} is none of the choices; write ${wanted}`);
    }
    found.set(left, casefold(right));
  }
  return found;
}

function isEmpty(typed) {
  if (typed === null || typed === undefined) return true;
  if (typeof typed === "string") return !strip(typed);
  return typeof typed === "object" && Object.keys(typed).length === 0;
}

// What an answer to an item says; a Rewrite where it says nothing or two things.
function readAnswer(item, typed) {
  switch (item.type) {
    case "single": return readLetters(typed, item.letters, false);
    case "multiple": return readLetters(typed, item.letters, true);
    case "order": return readLetters(typed, item.letters, true, true);
    case "match": return readMatches(typed, item.numbers, item.letters);
    case "number": return readNumber(typed);
    case "shape": return readShape(typed);
    case "text": return readText(typed, true);
    case "output": return readOutput(typed);
    default: return typed;
  }
}
