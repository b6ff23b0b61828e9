import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, describe, test } from "vitest";

const root = mkdtempSync(join(tmpdir(), "flotilla-lint-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const rules = ["sentences", "packed-literals"].map((rule) => `scripts/lint/${rule}.grit`);
for (const file of ["biome.json", ...rules]) {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  cpSync(file, join(root, file));
}

/** What the linter says of a file with this text. */
function lint(code: string, path = "hub/src/rules/summary/planted.ts"): string {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), code);
  const biome = resolve("node_modules/.bin/biome");
  const { stdout, stderr } = spawnSync(biome, ["lint", "--colors=off", path], {
    cwd: root,
    encoding: "utf8",
  });
  return `${stdout}${stderr}`;
}

describe("a program that decides by a sentence is an error of the linter", () => {
  for (const code of [
    'export const decides = (message: string) => message.startsWith("waiting");',
    'export const decides = (error: Error) => error.message.includes("denied");',
    'export const decides = (of?: { message?: string }) => of?.message?.split("; ");',
    "export const decides = ({ message }: Error) => /timed out/.test(message);",
    'export const decides = (of: { message?: string }) => /a/.exec(of.message ?? "");',
    'export const decides = (of: { message?: string }) => (of.message ?? "").startsWith("a");',
    'export const decides = (thrown: unknown) => messageOf(thrown).replace(/^read it, /, "");',
    "export const decides = (thrown: unknown) => /already in use/.test(messageOf(thrown));",
  ])
    test(code, () => assert.match(lint(code), /No program decides by reading a sentence/));
});

describe("it is none where", () => {
  const code = "export const reads = ({ message }: Error) => message.split(' ');";

  test("the text is somebody else's, which the exception says", () => {
    const excepted = `// biome-ignore lint/plugin: what Git prints\n${code}`;
    assert.doesNotMatch(lint(excepted), /sentence/);
  });

  test("a test compares what people read", () => {
    assert.doesNotMatch(lint(code, "hub/src/rules/summary/planted.test.ts"), /sentence/);
  });
});

describe("a literal that is packed into another one", () => {
  const code = "export const of = (a: number) => ({ ...{ a, b: 1 }, c: 2 });";

  test("is an error of the linter", () => {
    assert.match(lint(code), /Fields are written one by one/);
  });

  test("is one also where it is spread over the properties of an element", () => {
    const element = "export const Of = (a: number) => <Lines {...{ a, b: 1 }} />;";
    assert.match(lint(element, "dashboard/src/map/planted.tsx"), /Fields are written one by one/);
  });

  test("is none in a test, or where it depends on something", () => {
    assert.doesNotMatch(lint(code, "hub/src/rules/summary/planted.test.ts"), /one by one/);
    assert.doesNotMatch(lint(code.replace("...{ a, b: 1 }", "...(a > 0 && { a })")), /one by one/);
  });
});
