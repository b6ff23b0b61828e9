import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "vitest";
import { confirm } from "./confirm.ts";

function aTerminal(answer: string, isTTY = true) {
  const input = Object.assign(new PassThrough(), { isTTY });
  const output = Object.assign(new PassThrough(), { isTTY });
  input.end(answer);
  return { input, output };
}

const instead = "add --yes";

for (const answer of ["y\n", "YES\n", " y \n"])
  test(`${JSON.stringify(answer)} is a yes`, async () => {
    const terminal = aTerminal(answer);

    await confirm("Continue?", { terminal, instead });

    assert.match(String(terminal.output.read()), /Continue\? \[y\/N\] /);
  });

for (const answer of ["\n", "n\n", "yess\n", ""])
  test(`${JSON.stringify(answer)} changes nothing`, async () => {
    await assert.rejects(confirm("Continue?", { terminal: aTerminal(answer), instead }), {
      code: "NOT_CONFIRMED",
      message: "nothing was changed",
    });
  });

test("without a terminal nobody is asked, and the message says what to add", async () => {
  const terminal = aTerminal("y\n", false);

  await assert.rejects(confirm("Continue?", { terminal, instead }), /no terminal .*; add --yes$/);

  assert.equal(terminal.output.read(), null);
});
