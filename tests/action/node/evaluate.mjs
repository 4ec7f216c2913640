// Evaluates expressions as GitHub does: {"context": {...}, "expressions": [...]} on stdin, on stdout for each {"value": ...} or
// {"error": "..."}. The argument is the folder that holds node_modules.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const entry = join(resolve(process.argv[2]), "node_modules/@actions/expressions/dist/index.js");
const { Evaluator, Lexer, Parser, data } = await import(pathToFileURL(entry).href);

const { context, expressions } = JSON.parse(readFileSync(0, "utf8"));
const names = Object.keys(context);
const values = JSON.parse(JSON.stringify(context), data.reviver);

function evaluate(text) {
  try {
    const tree = new Parser(new Lexer(text).lex().tokens, names, []).parse();
    return { value: JSON.parse(JSON.stringify(new Evaluator(tree, values).evaluate(), data.replacer)) };
  } catch (error) {
    return { error: String(error.message ?? error) };
  }
}
process.stdout.write(JSON.stringify(expressions.map(evaluate)));
