/** Stores Go's results for values with templates: `node agent/generate/golden.ts`. Needs Go. */
import { buildOracle, writeGolden } from "@flotilla/shared/version/testing";
import { rowContext, styleRows, valuesRows } from "../src/inputs/values/testing/index.ts";

await using oracle = await buildOracle();
if (oracle.kind === "missing") throw new Error(oracle.why);
const questions = { styles: styleRows, values: valuesRows };
const withContext = valuesRows.map((row) => ({ ...row, context: rowContext }));
await writeGolden(
  "values-rows",
  questions,
  await oracle.ask({ ...questions, values: withContext }),
);
