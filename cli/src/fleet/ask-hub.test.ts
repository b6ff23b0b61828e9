import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { printAnswer } from "./ask-hub.ts";

function printed(answer: string): string {
  const parts: string[] = [];
  printAnswer(answer, (text) => void parts.push(text));
  return parts.join("");
}

describe("the answer of the hub", () => {
  test("is printed without its frame", () => {
    assert.equal(printed('{"data":"a\\n"}\n{"data":"b"}\n{"end":{}}\n'), "a\nb");
  });

  test("ends with the failure of the agent", () => {
    assert.throws(() => printed('{"end":{"code":"REQUEST_FAILED","message":"no pod"}}\n'), {
      code: "REQUEST_INCOMPLETE",
      message: "no pod",
    });
  });

  test("is not complete without its end", () => {
    assert.throws(() => printed('{"data":"a"}\n'), { message: /ended before it was complete/ });
  });
});
