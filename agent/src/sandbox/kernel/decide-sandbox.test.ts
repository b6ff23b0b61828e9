import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { decideSandbox, type SandboxDecision, type SandboxLevel } from "./decide-sandbox.ts";

const launcher = "/usr/bin/confine";
const reason = "its kernel was started without it";
const truncation = "empty files that the user of the agent may write";
const signals = "send signals to processes of the user of the agent";
const everything = "everything that the user of the agent may do";

function confined(abi: number, ...missing: readonly string[]): SandboxDecision {
  return { sandbox: { kind: "confined", launcher, abi }, missing };
}

function refused(why: string): SandboxDecision {
  return { sandbox: { kind: "refused", why }, missing: [] };
}

describe("the sandbox of a kernel", () => {
  const unconfined: SandboxDecision = { sandbox: { kind: "unconfined" }, missing: [everything] };
  const cases: readonly (readonly [abi: number, least: SandboxLevel, SandboxDecision])[] = [
    [7, "Full", confined(7)],
    [6, "Full", confined(6)],
    [5, "Full", confined(5, signals)],
    [4, "Full", confined(4, signals)],
    [
      3,
      "Full",
      refused(
        "the sandbox needs rules for TCP ports (ABI 4 of Landlock, Linux 6.7), and kernel 5.4.0-test has ABI 3; use a newer kernel",
      ),
    ],
    [
      0,
      "Full",
      refused(
        "the sandbox needs rules for TCP ports (ABI 4 of Landlock, Linux 6.7), and kernel 5.4.0-test has no Landlock: its kernel was started without it; use a newer kernel",
      ),
    ],
    [6, "FilesOnly", confined(6)],
    [3, "FilesOnly", confined(3, signals)],
    [2, "FilesOnly", confined(2, truncation, signals)],
    [1, "FilesOnly", confined(1, truncation, signals)],
    [
      0,
      "FilesOnly",
      refused(
        "the sandbox needs rules for files (ABI 1 of Landlock, Linux 5.13), and kernel 5.4.0-test has no Landlock: its kernel was started without it; use a newer kernel",
      ),
    ],
    [6, "Unconfined", confined(6)],
    [1, "Unconfined", confined(1, truncation, signals)],
    [0, "Unconfined", unconfined],
  ];
  for (const [abi, least, expected] of cases)
    test(`with ABI ${abi} of Landlock is ${expected.sandbox.kind}, with ${expected.missing.length} rules missing, where the least is ${least}`, () => {
      const kernel = { release: "5.4.0-test", abi, ...(abi === 0 && { reason }) };

      assert.deepEqual(decideSandbox(kernel, { launcher, least }), expected);
    });
});
