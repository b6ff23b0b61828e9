import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type LogLine, logText, parseLog, shownLines } from "./log-lines.ts";

describe("a line of a log", () => {
  const cases: readonly (readonly [string, string, LogLine])[] = [
    ["has its container", "[web-1/app] hello", { origin: "web-1/app", text: "hello" }],
    ["may be empty", "[web-1/app] ", { origin: "web-1/app", text: "" }],
    ["keeps its own brackets", "[web-1/app] [info] a", { origin: "web-1/app", text: "[info] a" }],
    ["may be of the agent", "[cut] at 4 MiB", { origin: "", text: "[cut] at 4 MiB" }],
    [
      "loses its colours",
      "[w/a] \u001b[31mred\u001b[0m and \ufffd[1;32mgreen\r",
      { origin: "w/a", text: "red and green" },
    ],
    [
      "has its time",
      "[w/a] 2026-01-01T10:00:00.123456789Z started",
      { origin: "w/a", time: "2026-01-01T10:00:00.123456789Z", text: "started" },
    ],
    [
      "has its time with an offset",
      "[w/a] 2026-01-01 10:00:00+02:00  x",
      { origin: "w/a", time: "2026-01-01T10:00:00+02:00", text: "x" },
    ],
    [
      "keeps a time without a zone, which is not known",
      "[w/a] 2026-01-01T10:00:00 x",
      { origin: "w/a", text: "2026-01-01T10:00:00 x" },
    ],
    [
      "keeps what is not a time",
      "[w/a] 2026-99-01T10:00:00Z x",
      { origin: "w/a", text: "2026-99-01T10:00:00Z x" },
    ],
  ];
  test.each(cases)("%s", (_, line, expected) => {
    assert.deepEqual(parseLog(`${line}\n`).lines, [expected]);
  });
});

test("a log has its containers, and is filtered by them and by text", () => {
  const log = parseLog("[b/app] one\n[a/app] 2026-01-01T10:00:00Z two\n[a/app] three\n");

  assert.deepEqual(log.origins, ["a/app", "b/app"]);
  const ofOne = shownLines(log, { only: "a/app", text: "" });
  assert.equal(logText(ofOne, false), "2026-01-01T10:00:00Z two\nthree\n");
  assert.equal(
    logText(shownLines(log, { only: "", text: "o" }), true),
    "[b/app] one\n[a/app] 2026-01-01T10:00:00Z two\n",
  );
});
