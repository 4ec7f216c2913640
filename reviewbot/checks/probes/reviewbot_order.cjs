// In which order test files run, and until when: for the reporters of Jest, Vitest and Mocha.
const { existsSync, readFileSync, statSync, writeFileSync } = require("node:fs");
const { basename, dirname, join, relative, resolve } = require("node:path");

const CHANGED = "/reviewbot/changed.json";
const LEFT = "/tmp/left.json";
// Of an import that names a file of the tree; `@/` and the like mostly stand for the top or src.
const IMPORT = /(?:\bfrom|\bimport|\brequire|\b(?:mock|import)\w*\()\s*(?:\(\s*)?["'`]([^"'`\n]+)["'`]/g;
const ALIAS = /^(?:[@~#]?\/|#)/;
const ENDS = ["", ..."js,ts,jsx,tsx,mjs,cjs,mts,cts,vue,svelte".split(",").map((end) => `.${end}`)];
const FOLDERS = ["", "/index"];
const files = new Map(); // see fileAt: most imports name what others import, too
const { now } = Date; // tests may replace it
const endsAt = Number(process.env.REVIEWBOT_ENDS_AT);

/** How many imports are between a test file of these and a changed file, less with its name. */
function distancesOf(paths) {
  const changed = existsSync(CHANGED) ? Object.keys(JSON.parse(readFileSync(CHANGED))) : [];
  const distances = new Map(changed.map((path) => [resolve(path), 0]));
  const importers = new Map();
  const known = new Set(changed.length ? paths : []);
  for (const path of known) { // which grows meanwhile
    for (const used of importsOf(path)) {
      known.add(used);
      importers.set(used, [...importers.get(used) ?? [], path]);
    }
  }
  for (const [path, distance] of distances) {
    for (const each of importers.get(path) ?? []) {
      if (!distances.has(each)) distances.set(each, distance + 1);
    }
  }
  const names = new Set(changed.map(stemOf));
  return (path) => distances.get(path) - (names.has(stemOf(path)) ? 0.5 : 0) || Infinity;
}

function stemOf(path) {
  return basename(path).replace(/(?:[._-](?:test|spec))?\..*/, "");
}

function importsOf(path) {
  let text = "";
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return []; // it is generated, or a folder
  }
  return [...text.matchAll(IMPORT)].flatMap(([, name]) => {
    const tops = name.startsWith(".") ? [dirname(path)] : [".", "src"];
    const found = tops.map((top) => fileAt(resolve(top, name.replace(ALIAS, "")))).find(Boolean);
    return found && !found.includes("/node_modules/") ? [found] : [];
  });
}

/** The file that an import of a place means, "" if there is none. */
function fileAt(place) {
  if (!files.has(place)) {
    const found = [place, place.replace(/\.[cm]?jsx?$/, "")]
      .flatMap((each) => FOLDERS.flatMap((folder) => ENDS.map((end) => each + folder + end)))
      .find((each) => /\.\w+$/.test(each) && statSync(each, { throwIfNoEntry: false })?.isFile());
    files.set(place, found ?? "");
  }
  return files.get(place);
}

/** Say how much did not run, if it is known, and which test files ended, if others seem skipped. */
function writeLeft(left, files) {
  const ended = files?.map((file) => relative(".", file));
  writeFileSync(LEFT, JSON.stringify({ left, ended }));
}

module.exports = { distancesOf, writeLeft, isOver: () => now() > endsAt, endsAt, now };
