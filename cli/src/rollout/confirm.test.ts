import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, test } from "vitest";
import { confirm, confirmIfAsked } from "./confirm.ts";

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

describe("what a job runs as it is", () => {
  const says = "halts rollout web-7";
  for (const [what, { isTTY, yes, answer }, isSaid] of [
    ["is asked about on a terminal", { isTTY: true, yes: false, answer: "y\n" }, true],
    ["is not asked about with --yes", { isTTY: true, yes: true, answer: "" }, false],
    ["is not asked about in a job", { isTTY: false, yes: false, answer: "" }, false],
  ] as const)
    test(what, async () => {
      const said: string[] = [];
      const terminal = aTerminal(answer, isTTY);

      const result = await confirmIfAsked(says, {
        terminal,
        yes,
        print: (line) => said.push(line),
      });

      assert.deepEqual([result, said], [isSaid, isSaid ? [says] : []]);
    });

  test("is not done when the answer is no", async () => {
    const terminal = aTerminal("n\n");

    await assert.rejects(confirmIfAsked(says, { terminal, yes: false, print: () => undefined }), {
      code: "NOT_CONFIRMED",
    });
  });
});
