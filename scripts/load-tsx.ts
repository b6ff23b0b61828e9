/**
 * Loaded before each file of tests: Node strips types, but reads no JSX, so the components of the page are translated when a test
 * imports them. Style sheets are empty.
 */
import { readFileSync } from "node:fs";
import { createRequire, type LoadHookSync, registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import type * as TypeScript from "typescript";
import { afterAll } from "vitest";

const require = createRequire(import.meta.url);

const load: LoadHookSync = (url, context, nextLoad) => {
  if (url.endsWith(".css")) return { format: "module", source: "", shortCircuit: true };
  if (!url.endsWith(".tsx")) return nextLoad(url, context);
  // Large, and most files of tests need none.
  const typescript: typeof TypeScript = require("typescript");
  return { format: "module", source: translate(typescript, url), shortCircuit: true };
};

function translate(typescript: typeof TypeScript, url: string): string {
  const { JsxEmit, ModuleKind, ScriptTarget } = typescript;
  const { outputText } = typescript.transpileModule(readFileSync(fileURLToPath(url), "utf8"), {
    fileName: fileURLToPath(url),
    compilerOptions: {
      jsx: JsxEmit.ReactJSX,
      module: ModuleKind.ESNext,
      target: ScriptTarget.ES2024,
      verbatimModuleSyntax: true,
    },
  });
  return outputText;
}

const hooks = registerHooks({ load });
afterAll(() => hooks.deregister());
