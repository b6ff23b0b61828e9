import assert from "node:assert/strict";
import { test } from "vitest";
import { parseChecksum } from "./download.ts";

const digest = "0123456789abcdef".repeat(4);
const other = "f".repeat(64);

const cases: readonly {
  readonly name: string;
  readonly text: string;
  readonly expected: string | undefined;
}[] = [
  { name: "only the digest", text: digest, expected: digest },
  {
    name: "only the digest, in upper case and with a line end",
    text: `${digest.toUpperCase()}\n`,
    expected: digest,
  },
  { name: "a line with the name", text: `${digest}  helm.tar.gz\n`, expected: digest },
  {
    name: "a line with the name of a binary file",
    text: `${digest} *helm.tar.gz\n`,
    expected: digest,
  },
  { name: "a name with a folder", text: `${digest}  ./out/helm.tar.gz\n`, expected: digest },
  {
    name: "one of many lines",
    text: `${other}  else.tar.gz\n${digest}  helm.tar.gz\n`,
    expected: digest,
  },
  { name: "a zero byte at its end", text: `${digest}\0`, expected: digest },
  { name: "only other files", text: `${other}  else.tar.gz\n`, expected: undefined },
  { name: "an HTML page", text: "<html>not found</html>", expected: undefined },
  { name: "no content", text: "", expected: undefined },
];

for (const { name, text, expected } of cases) {
  test(`${expected === undefined ? "finds no digest" : "finds the digest"} in a checksum file with ${name}`, () => {
    assert.equal(parseChecksum(text, "helm.tar.gz"), expected);
  });
}
