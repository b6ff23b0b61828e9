import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { historyTable } from "./history-table.ts";
import { printable } from "./printable.ts";

describe("a history", () => {
  test("is a table, the newest revision first", () => {
    const entry = {
      ...{ revision: 2, status: "failed", chartName: "web", chartVersion: "1.1.0" },
      ...{ appVersion: "7", deployedAt: "2026-01-01T00:00:00.123456Z", description: "bad\nend" },
      ...{ reasons: ["ValuesChanged"], tests: [{ name: "smoke", phase: "Failed" }] },
    };

    assert.equal(
      historyTable(`${JSON.stringify(entry)}\n`),
      [
        "REVISION   UPDATED                STATUS   CHART       APP VERSION   REASON          TESTS          DESCRIPTION",
        "2          2026-01-01T00:00:00Z   failed   web-1.1.0   7             ValuesChanged   smoke Failed   bad end",
        "",
      ].join("\n"),
    );
  });

  test("may be empty", () => {
    assert.equal(historyTable(""), "Helm has stored no revision\n");
  });
});

test("what a cluster says cannot control the terminal", () => {
  assert.equal(printable("a\tb\n\u001b[31mc\u009bd\u202ee"), "a\tb\n\ufffd[31mc\ufffdd\ufffde");
});
