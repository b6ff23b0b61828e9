import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type FlagTable, type ReadFlags, readFlags } from "./flags.ts";

const table: FlagTable = {
  flags: {
    install: { kind: "switch" },
    values: { kind: "text" },
    wait: { kind: "optional", alone: "watcher" },
  },
  letters: { f: "values", i: "install" },
};

const given = (name: string, value: string) => ({ name, value });

/** As spf13/pflag reads them. */
const rows: readonly (readonly [args: string, expected: ReadFlags])[] = [
  ["a b", { positionals: ["a", "b"], flags: [] }],
  ["a --values x b", { positionals: ["a", "b"], flags: [given("values", "x")] }],
  ["--values=x=y", { positionals: [], flags: [given("values", "x=y")] }],
  ["--values --install", { positionals: [], flags: [given("values", "--install")] }],
  ["--install a", { positionals: ["a"], flags: [given("install", "true")] }],
  [
    "--install=0 --install=T",
    { positionals: [], flags: [given("install", "false"), given("install", "true")] },
  ],
  ["--wait a", { positionals: ["a"], flags: [given("wait", "watcher")] }],
  ["--wait=legacy", { positionals: [], flags: [given("wait", "legacy")] }],
  [
    "-f x -fy -f=z",
    { positionals: [], flags: ["x", "y", "z"].map((each) => given("values", each)) },
  ],
  ["-if x", { positionals: [], flags: [given("install", "true"), given("values", "x")] }],
  ["-i=false", { positionals: [], flags: [given("install", "false")] }],
  ["- -- --wait", { positionals: ["-", "--wait"], flags: [] }],
  ["a --other x", { positionals: ["a"], flags: [], problem: { kind: "unknown", flag: "--other" } }],
  ["--other=secret", { positionals: [], flags: [], problem: { kind: "unknown", flag: "--other" } }],
  ["--toString", { positionals: [], flags: [], problem: { kind: "unknown", flag: "--toString" } }],
  ["-ix", { positionals: [], flags: [], problem: { kind: "unknown", flag: "-x" } }],
  [
    "a --values",
    { positionals: ["a"], flags: [], problem: { kind: "no-value", flag: "--values" } },
  ],
  ["-f", { positionals: [], flags: [], problem: { kind: "no-value", flag: "-f" } }],
  [
    "--install=yes",
    { positionals: [], flags: [], problem: { kind: "no-switch", flag: "--install" } },
  ],
];

describe("a command line", () => {
  for (const [args, expected] of rows)
    test(`is read: ${args}`, () => {
      assert.deepEqual(readFlags(args.split(" "), table), expected);
    });
});
